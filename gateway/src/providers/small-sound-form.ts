export const smallFormBoundary = "sluice-small-sound";

const samplesPerSecond = 8_000;

/** The form of a transcription (RFC 7578) with one second of silence in it, the shortest that vendors take. */
export function smallSoundForm(model: string): Uint8Array {
  const head = [
    `--${smallFormBoundary}`,
    'content-disposition: form-data; name="model"',
    "",
    model,
    `--${smallFormBoundary}`,
    'content-disposition: form-data; name="file"; filename="silence.wav"',
    "content-type: audio/wav",
    "",
    "",
  ].join("\r\n");
  return Buffer.concat([Buffer.from(head), silentWav(), Buffer.from(`\r\n--${smallFormBoundary}--\r\n`)]);
}

/** PCM, one channel, 16 bits a sample: http://soundfile.sapp.org/doc/WaveFormat/ */
function silentWav(): Buffer {
  const samples = Buffer.alloc(samplesPerSecond * 2);
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(samplesPerSecond, 24);
  head.writeUInt32LE(samplesPerSecond * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}
