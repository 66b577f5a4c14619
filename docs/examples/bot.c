/* A bot of the line protocol that prefers corners. Build and run it:
 *
 *     cc -O2 -o bot bot.c
 *     ./bot
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int worth(const char *move) {
    int column = move[0] - 'a', row = move[1] - '1';
    int across = column < 7 - column ? column : 7 - column;
    int down = row < 7 - row ? row : 7 - row;
    if (across == 0 && down == 0) return 2;
    return across <= 1 && down <= 1 ? 0 : 1;
}

int main(void) {
    char line[4096], best[3];
    while (fgets(line, sizeof line, stdin)) {
        char *word = strtok(line, " \n");
        if (!word) continue;
        if (!strcmp(word, "game")) {
            puts("ready");
        } else if (!strcmp(word, "move")) {
            strtok(NULL, " \n"); /* colour */
            strtok(NULL, " \n"); /* board */
            strtok(NULL, " \n"); /* time */
            best[0] = 0;
            while ((word = strtok(NULL, " \n")))
                if (!best[0] || worth(word) > worth(best)) snprintf(best, sizeof best, "%s", word);
            puts(best);
        } else if (!strcmp(word, "quit")) {
            break;
        }
        fflush(stdout);
    }
    return 0;
}
