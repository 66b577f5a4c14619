// A player of the file protocol that moves at random. Build and run it:
//
//     javac Bert.java
//     java Bert
//
// or as an archive, which reads bert.in and writes bert.out:
//
//     jar cfe bert.jar Bert *.class
//     java -jar bert.jar

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

public class Bert {
    // [row][column] from 0; the lowest row is the first; 0 is empty.
    static final char[][] board = new char[8][8];
    static final String name = findName();

    /** Return "Bert", or the name of the archive in which this class is. */
    static String findName() {
        String path = System.getProperty("java.class.path");
        return path.endsWith(".jar")
                ? Path.of(path).getFileName().toString().replace(".jar", "")
                : "Bert";
    }

    /** Wait for NAME.in, read it, and delete it. */
    static String receive() throws IOException, InterruptedException {
        Path file = Path.of(name + ".in");
        while (!Files.exists(file)) Thread.sleep(100);
        String text = Files.readString(file);
        Files.delete(file);
        return text.replace("(", "").replace(")", "").trim().toUpperCase();
    }

    /** Write NAME.out, so that nobody sees half of it. */
    static void send(String text) throws IOException {
        Path file = Path.of(name + ".tmp");
        Files.writeString(file, text + "\n");
        Files.move(file, Path.of(name + ".out"), StandardCopyOption.REPLACE_EXISTING);
    }

    /** Return the discs that turn if this colour plays here, as {row, column}. */
    static List<int[]> flipped(char colour, int row, int column) {
        List<int[]> all = new ArrayList<>();
        if (board[row][column] != 0) return all;
        for (int down = -1; down <= 1; down++) {
            for (int across = -1; across <= 1; across++) {
                List<int[]> line = new ArrayList<>();
                int r = row + down, c = column + across;
                while (isOnBoard(r, c) && board[r][c] != 0 && board[r][c] != colour) {
                    line.add(new int[] {r, c});
                    r += down;
                    c += across;
                }
                if (isOnBoard(r, c) && board[r][c] == colour) all.addAll(line);
            }
        }
        return all;
    }

    static boolean isOnBoard(int row, int column) {
        return row >= 0 && row < 8 && column >= 0 && column < 8;
    }

    static List<int[]> moves(char colour) {
        List<int[]> all = new ArrayList<>();
        for (int row = 0; row < 8; row++)
            for (int column = 0; column < 8; column++)
                if (!flipped(colour, row, column).isEmpty()) all.add(new int[] {row, column});
        return all;
    }

    static void play(char colour, int row, int column) {
        for (int[] disc : flipped(colour, row, column)) board[disc[0]][disc[1]] = colour;
        board[row][column] = colour;
    }

    public static void main(String[] arguments) throws Exception {
        board[3][3] = board[4][4] = 'B';
        board[3][4] = board[4][3] = 'W';
        Random random = new Random();
        char mine = receive().charAt(0);
        for (char turn = 'W';
                !moves('W').isEmpty() || !moves('B').isEmpty();
                turn = turn == 'W' ? 'B' : 'W') {
            if (turn == mine) {
                List<int[]> choices = moves(mine);
                if (choices.isEmpty()) {
                    send("(" + mine + " P 1)");
                    continue;
                }
                int[] move = choices.get(random.nextInt(choices.size()));
                play(mine, move[0], move[1]);
                send("(" + mine + " " + (char) ('A' + move[1]) + " " + (move[0] + 1) + ")");
            } else {
                String[] words = receive().split("\\s+");
                char column = words[1].charAt(0);
                if (column != 'P') play(turn, Integer.parseInt(words[2]) - 1, column - 'A');
            }
        }
    }
}
