// A player of the file protocol that plays the move that turns most discs. Build and run it:
//
//     rustc -O -o anna anna.rs
//     ./anna
//
// Its name is that of its file: ./anna reads anna.in and writes anna.out.

use std::{env, fs, path::Path, thread, time::Duration};

/// [row][column] from 0; the lowest row is the first; '-' is empty.
type Board = [[char; 8]; 8];

/// Wait for NAME.in, read it, delete it, and return its words without brackets.
fn receive(name: &str) -> Vec<String> {
    let file = format!("{name}.in");
    while !Path::new(&file).exists() {
        thread::sleep(Duration::from_millis(100));
    }
    let text = fs::read_to_string(&file).expect("the file can be read");
    fs::remove_file(&file).expect("the file can be deleted");
    let text = text.replace(['(', ')'], " ").to_uppercase();
    text.split_whitespace().map(String::from).collect()
}

/// Write NAME.out, so that nobody sees half of it.
fn send(name: &str, text: &str) {
    let new = format!("{name}.tmp");
    fs::write(&new, format!("{text}\n")).expect("the file can be written");
    fs::rename(&new, format!("{name}.out")).expect("the file can be renamed");
}

fn at(board: &Board, row: i32, column: i32) -> Option<char> {
    let on_board = (0..8).contains(&row) && (0..8).contains(&column);
    on_board.then(|| board[row as usize][column as usize])
}

/// Return the discs that turn if this colour plays here.
fn flipped(board: &Board, colour: char, row: i32, column: i32) -> Vec<(i32, i32)> {
    let mut all = Vec::new();
    if at(board, row, column) != Some('-') {
        return all;
    }
    for down in -1..=1 {
        for across in -1..=1 {
            let (mut r, mut c) = (row + down, column + across);
            let mut line = Vec::new();
            while at(board, r, c) == Some(other(colour)) {
                line.push((r, c));
                r += down;
                c += across;
            }
            if at(board, r, c) == Some(colour) {
                all.extend(line);
            }
        }
    }
    all
}

/// Return the move that turns most discs, None if there is no legal one.
fn best_move(board: &Board, colour: char) -> Option<(i32, i32)> {
    let count = |square: &(i32, i32)| flipped(board, colour, square.0, square.1).len();
    let squares = (0..8).flat_map(|row| (0..8).map(move |column| (row, column)));
    squares.filter(|square| count(square) > 0).max_by_key(count)
}

fn play(board: &mut Board, colour: char, row: i32, column: i32) {
    for (r, c) in flipped(board, colour, row, column) {
        board[r as usize][c as usize] = colour;
    }
    board[row as usize][column as usize] = colour;
}

fn other(colour: char) -> char {
    if colour == 'W' { 'B' } else { 'W' }
}

fn main() {
    let program = env::args().next().expect("a program has a name");
    let name = Path::new(&program).file_stem().unwrap().to_str().unwrap();
    let mut board = [['-'; 8]; 8];
    (board[3][3], board[4][4]) = ('B', 'B');
    (board[3][4], board[4][3]) = ('W', 'W');
    let mine = receive(name)[0].chars().next().unwrap();
    let mut turn = 'W';
    while best_move(&board, 'W').is_some() || best_move(&board, 'B').is_some() {
        if turn != mine {
            let words = receive(name);
            let column = words[1].as_bytes()[0];
            if column != b'P' {
                let row: i32 = words[2].parse().expect("a row is a number");
                play(&mut board, turn, row - 1, (column - b'A') as i32);
            }
        } else if let Some((row, column)) = best_move(&board, mine) {
            play(&mut board, mine, row, column);
            let letter = (b'A' + column as u8) as char;
            send(name, &format!("({mine} {letter} {})", row + 1));
        } else {
            send(name, &format!("({mine} P 1)"));
        }
        turn = other(turn);
    }
}
