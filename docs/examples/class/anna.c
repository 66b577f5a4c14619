/* A player of the file protocol that plays the first legal move. Build and run it:
 *
 *     cc -O2 -o anna anna.c
 *     ./anna
 *
 * Its name is that of its file: ./anna reads anna.in and writes anna.out.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char board[8][8]; /* [row][column] from 0; the lowest row is the first; 0 is empty */
static char in_file[256], out_file[256], new_file[256];

/* Wait for NAME.in, read its line, and delete it. */
static void receive(char *line, int size) {
    FILE *file;
    struct timespec pause = {0, 100 * 1000 * 1000};
    while (!(file = fopen(in_file, "r"))) nanosleep(&pause, NULL);
    if (!fgets(line, size, file)) exit(1);
    fclose(file);
    remove(in_file);
}

/* Write NAME.out, so that nobody sees half of it. */
static void send_move(const char *line) {
    FILE *file = fopen(new_file, "w");
    if (!file) exit(1);
    fprintf(file, "%s\n", line);
    fclose(file);
    rename(new_file, out_file);
}

/* Count the discs that turn if this colour plays here; turn them if wanted. */
static int flips(char colour, int row, int column, int turn) {
    int total = 0;
    if (board[row][column]) return 0;
    for (int down = -1; down <= 1; down++)
        for (int across = -1; across <= 1; across++) {
            int length = 0, r = row + down, c = column + across;
            while (r >= 0 && r < 8 && c >= 0 && c < 8 && board[r][c] && board[r][c] != colour)
                length++, r += down, c += across;
            if (r < 0 || r > 7 || c < 0 || c > 7 || board[r][c] != colour) continue;
            total += length;
            for (int i = 1; turn && i <= length; i++)
                board[row + i * down][column + i * across] = colour;
        }
    return total;
}

static void play(char colour, int row, int column) {
    flips(colour, row, column, 1);
    board[row][column] = colour;
}

/* Find the first legal move; return 0 if there is none. */
static int find_move(char colour, int *row, int *column) {
    for (*row = 0; *row < 8; ++*row)
        for (*column = 0; *column < 8; ++*column)
            if (flips(colour, *row, *column, 0)) return 1;
    return 0;
}

int main(int count, char **arguments) {
    char line[256], mine, turn, column_letter;
    int row, column;
    const char *slash = strrchr(arguments[0], '/'), *name = slash ? slash + 1 : arguments[0];
    (void)count;
    snprintf(in_file, sizeof in_file, "%s.in", name);
    snprintf(out_file, sizeof out_file, "%s.out", name);
    snprintf(new_file, sizeof new_file, "%s.tmp", name);
    board[3][3] = board[4][4] = 'B';
    board[4][3] = board[3][4] = 'W';
    receive(line, sizeof line);
    mine = line[0];
    for (turn = 'W'; find_move('W', &row, &column) || find_move('B', &row, &column);
         turn = turn == 'W' ? 'B' : 'W') {
        if (turn == mine) {
            if (find_move(mine, &row, &column)) {
                play(mine, row, column);
                snprintf(line, sizeof line, "(%c %c %d)", mine, 'A' + column, row + 1);
            } else {
                snprintf(line, sizeof line, "(%c P 1)", mine);
            }
            send_move(line);
        } else {
            receive(line, sizeof line);
            if (sscanf(line, " ( %*c %c %d", &column_letter, &row) != 2) return 1;
            column_letter = toupper(column_letter);
            if (column_letter != 'P') play(turn, row - 1, column_letter - 'A');
        }
    }
    return 0;
}
