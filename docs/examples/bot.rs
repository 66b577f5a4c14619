// A bot of the line protocol that plays the last legal move. Build and run it:
//
//     rustc -O -o bot bot.rs
//     ./bot

use std::io;

fn main() {
    for line in io::stdin().lines() {
        let line = line.expect("input is text");
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.first() {
            Some(&"game") => println!("ready"),
            Some(&"move") => println!("{}", words[words.len() - 1]),
            Some(&"quit") => break,
            _ => {}
        }
    }
}
