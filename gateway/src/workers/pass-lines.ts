/**
 * Passes on what a process prints in whole lines, so that those of several never mix. A line longer than `lineBytesMax` is
 * parted. What the process did not end with a line break, because it was killed in the middle, gets one.
 */
export async function passLines(
  stream: ReadableStream<Uint8Array>,
  write: (lines: string) => void,
  lineBytesMax: number,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  const pass = (text: string): void => {
    rest += text;
    const end = rest.lastIndexOf("\n") + 1;
    if (end > 0) {
      write(rest.slice(0, end));
      rest = rest.slice(end);
    }
    if (rest.length >= lineBytesMax) {
      write(`${rest}\n`);
      rest = "";
    }
  };
  try {
    for await (const bytes of stream) pass(decoder.decode(bytes, { stream: true }));
  } catch {
    // A pipe that breaks has no more to say.
  }
  pass(decoder.decode());
  if (rest !== "") write(`${rest}\n`);
}
