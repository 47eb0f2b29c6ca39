import { expect, test } from "bun:test";
import { RequestReader } from "./index.ts";

const head = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n";
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

function read(...pushed: string[]) {
  const told: string[] = [];
  const reader = new RequestReader(
    { headBytesMax: 1_000, fieldsMax: 10 },
    {
      onHead: () => void told.push("head"),
      onBody: (piece) => void told.push(Buffer.from(piece).toString()),
      onEnd: () => void told.push("end"),
    },
  );
  try {
    for (const text of pushed) reader.push(Buffer.from(text));
  } catch {
    told.push("refused");
  }
  return told;
}

test("chunks that come together are one piece, however short they are", () => {
  const long = "a long one, which is moved at once";
  expect(read(head + chunk("x").repeat(1_000) + chunk(long) + chunk("end"), `${chunk("next")}0\r\n\r\n`)).toEqual([
    "head",
    `${"x".repeat(1_000)}${long}end`,
    "next",
    "end",
  ]);
  expect(read(`${head}5\r\nhe`, `llo\r\n${chunk("you")}3\r\nall`, "\r\n0\r\n\r\n")).toEqual([
    "head",
    "he",
    "lloyouall",
    "end",
  ]);
});

test("what came before something that cannot be read is told", () => {
  expect(read(`${head}${chunk("one")}${chunk("two")}x`)).toEqual(["head", "onetwo", "refused"]);
});
