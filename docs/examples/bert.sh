#!/bin/sh
# A player of the file protocol that plays the first legal move. Run it:
#
#     sh bert.sh
#
# It starts other programs (tr, rm, mv), which the referee allows by isolation.children=[bert].
# Its name is that of its file: bert.sh reads bert.in and writes bert.out.

name=${0##*/} name=${name%.sh}

# A square is the number 10 * row + column, both from 1; the lowest row is the first. Its disc is in
# a variable of its own: W or B, - if the square is empty, and nothing beside the board.
for row in 1 2 3 4 5 6 7 8; do
    for column in 1 2 3 4 5 6 7 8; do eval "disc_$row$column=-"; done
done
disc_44=B disc_55=B disc_45=W disc_54=W

other() { if [ "$1" = W ]; then opponent=B; else opponent=W; fi; }

# Set flipped to the squares of the discs that turn if colour $1 plays at square $2.
find_flipped() {
    flipped=
    eval "disc=\$disc_$2"
    [ "$disc" = - ] || return 0
    other "$1"
    for step in -11 -10 -9 -1 1 9 10 11; do
        line='' square=$(($2 + step))
        eval "disc=\${disc_$square-}"
        while [ "$disc" = "$opponent" ]; do
            line="$line $square" square=$((square + step))
            eval "disc=\${disc_$square-}"
        done
        [ "$disc" != "$1" ] || flipped="$flipped$line"
    done
}

# Set move to the first legal move of colour $1; return 1 if there is none.
find_move() {
    for row in 1 2 3 4 5 6 7 8; do
        for column in 1 2 3 4 5 6 7 8; do
            move=$row$column
            find_flipped "$1" "$move"
            [ -z "$flipped" ] || return 0
        done
    done
    return 1
}

play() { # play COLOUR SQUARE
    find_flipped "$1" "$2"
    for square in $2 $flipped; do eval "disc_$square=$1"; done
}

# Wait for NAME.in, set text to its words without brackets, and delete the file.
receive() {
    while [ ! -e "$name.in" ]; do sleep 0.1; done
    text=$(tr -d '()\r' < "$name.in" | tr a-z A-Z)
    rm "$name.in"
}

# Write NAME.out, so that nobody sees half of it.
send() {
    echo "$1" > "$name.tmp"
    mv "$name.tmp" "$name.out"
}

receive
mine=$text turn=W
while find_move W || find_move B; do
    if [ "$turn" = "$mine" ]; then
        if find_move "$mine"; then
            play "$mine" "$move"
            send "($mine $(echo "${move#?}" | tr 1-8 A-H) ${move%?})"
        else
            send "($mine P 1)"
        fi
    else
        receive
        set -- $text # colour, column, row
        [ "$2" = P ] || play "$turn" "$3$(echo "$2" | tr A-H 1-8)"
    fi
    other "$turn"
    turn=$opponent
done
