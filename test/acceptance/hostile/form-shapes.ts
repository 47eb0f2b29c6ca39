import { either, type HostileShape, MiB, refused } from "./hostile-shape.ts";

const formType = "multipart/form-data; boundary=b";
const field = (name: string, value: string): string =>
  `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const picture = (bytes: string): string =>
  `--b\r\ncontent-disposition: form-data; name="image"; filename="a.png"\r\ncontent-type: image/png\r\n\r\n${bytes}\r\n`;
export const forms: readonly HostileShape[] = [
  ["ten thousand parts", () => `${field("x", "1").repeat(10_000)}--b--`, refused],
  ["a part header of 1 MiB", () => `--b\r\ncontent-disposition: form-data; name="${"a".repeat(MiB)}"\r\n\r\n`, refused],
  ["no final boundary", () => `${field("model", "painter")}${picture("a".repeat(20 * MiB))}`, refused],
  [
    "many almost-boundaries",
    () => `${field("model", "painter")}${field("prompt", "p")}${picture("\r\n--".repeat(7 * MiB))}--b--`,
    either,
  ],
  [
    "30 MiB of line breaks",
    () => `${field("model", "painter")}${field("prompt", "p")}${picture("\r\n".repeat(15 * MiB))}--b--`,
    either,
  ],
  ["a prompt of 10 MiB", () => `${field("model", "painter")}${field("prompt", "p".repeat(10 * MiB))}--b--`, refused],
  [
    "an image for an upstream that does not accept forms",
    () => `${field("model", "seedream")}${field("prompt", "p")}${picture("a".repeat(30 * MiB))}--b--`,
    either,
  ],
].map(([name, body, answers]) => ({
  name: `form: ${String(name)}`,
  path: "/v1/images/edits",
  headers: { "content-type": formType },
  body: body as () => string,
  answers: answers as readonly number[],
}));
