// A bot of the line protocol that moves at random. Build and run it:
//
//     javac Bot.java
//     java Bot

import java.util.Random;
import java.util.Scanner;

public class Bot {
    public static void main(String[] arguments) {
        Scanner input = new Scanner(System.in);
        Random random = new Random();
        while (input.hasNextLine()) {
            String[] words = input.nextLine().trim().split("\\s+");
            if (words[0].equals("game")) {
                random = new Random(Long.parseLong(words[3]));
                System.out.println("ready");
            } else if (words[0].equals("move")) {
                // The moves follow the colour, the board and the time.
                System.out.println(words[4 + random.nextInt(words.length - 4)]);
            } else if (words[0].equals("quit")) {
                break;
            }
        }
    }
}
