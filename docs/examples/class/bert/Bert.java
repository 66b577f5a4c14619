// A bot of the line protocol that takes the most valuable square: a corner, or as far from the
// corners' neighbours as possible. The lab tells it the legal moves.

import java.util.Scanner;

public class Bert {
    static int value(String move) {
        int column = move.charAt(0) - 'a', row = move.charAt(1) - '1';
        int across = Math.min(column, 7 - column), down = Math.min(row, 7 - row);
        if (across == 0 && down == 0) return 3; // a corner
        if (across <= 1 && down <= 1) return 0; // beside a corner
        return across == 0 || down == 0 ? 2 : 1; // an edge, or inside
    }

    public static void main(String[] arguments) {
        Scanner input = new Scanner(System.in);
        while (input.hasNextLine()) {
            String[] words = input.nextLine().trim().split("\\s+");
            if (words[0].equals("game")) {
                System.out.println("ready");
            } else if (words[0].equals("move")) {
                String best = words[4]; // after the colour, the board and the time
                for (int i = 5; i < words.length; i++)
                    if (value(words[i]) > value(best)) best = words[i];
                System.out.println(best);
            } else if (words[0].equals("quit")) {
                break;
            }
        }
    }
}
