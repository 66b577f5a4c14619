// Quiet sounds of discs, off until they are switched on.

const KEY = "sound";
let context = null;

export const soundIsOn = () => localStorage.getItem(KEY) === "on";

export function switchSound() {
  localStorage.setItem(KEY, soundIsOn() ? "off" : "on");
  if (soundIsOn()) discSound(1);
}

/** A disc is put down, and so many are turned. */
export function discSound(turned) {
  if (!soundIsOn()) return;
  context ??= new AudioContext();
  tick(0, 320, 0.12);
  for (let number = 0; number < Math.min(turned, 6); number++) tick(0.12 + 0.07 * number, 210 + 12 * number, 0.05);
}

function tick(after, pitch, loudness) {
  const [tone, volume] = [context.createOscillator(), context.createGain()];
  const start = context.currentTime + after;
  tone.type = "triangle";
  tone.frequency.value = pitch;
  volume.gain.setValueAtTime(loudness, start);
  volume.gain.exponentialRampToValueAtTime(0.0001, start + 0.09);
  tone.connect(volume).connect(context.destination);
  tone.start(start);
  tone.stop(start + 0.1);
}
