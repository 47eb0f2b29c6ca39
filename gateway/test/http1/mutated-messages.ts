import fc from "fast-check";

/** Bytes that can change the meaning of a message at any position. */
const marks = [
  ...["\r\n", "\n", "\r", " ", "\t", "\0", "\x0b", ":", ",", ";", '"', "\r\n\r\n", "0\r\n\r\n", "3\r\nabc\r\n"],
  ...["\xff", "+", "-"],
];

/** One to three of the messages in sequence with up to three mutations: bytes removed, a word or a mark inserted. */
export function mutatedMessages(messages: readonly string[], words: readonly string[]): fc.Arbitrary<string> {
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
