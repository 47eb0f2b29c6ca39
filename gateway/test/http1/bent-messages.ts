import fc from "fast-check";

/** What can turn the meaning of a message wherever it comes to stand. */
const marks = [
  ...["\r\n", "\n", "\r", " ", "\t", "\0", "\x0b", ":", ",", ";", '"', "\r\n\r\n", "0\r\n\r\n", "3\r\nabc\r\n"],
  ...["\xff", "+", "-"],
];

/** One to three of the messages one after the other, with up to three places changed: something left out, a word or a mark put in. */
export function bentMessages(messages: readonly string[], words: readonly string[]): fc.Arbitrary<string> {
  const pieces = [...words, ...marks];
  return fc
    .tuple(
      fc.array(fc.constantFrom(...messages), { minLength: 1, maxLength: 3 }),
      fc.array(fc.tuple(fc.nat(), fc.nat(6), fc.constantFrom(...pieces)), { maxLength: 3 }),
    )
    .map(([texts, changes]) =>
      changes.reduce((text, [at, drop, piece]) => {
        const from = at % (text.length + 1);
        return text.slice(0, from) + piece + text.slice(from + drop);
      }, texts.join("")),
    );
}
