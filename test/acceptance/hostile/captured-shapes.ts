import { chat, type HostileShape, MiB, many, passed, said } from "./hostile-shape.ts";

function captured(what: string, more: () => string): HostileShape {
  const body = () => `{"model":"openai","messages":[${said}],${more()}}`;
  return { name: `captured: ${what}`, path: chat, captured: true, body, answers: passed };
}

const base64 = `"${"A".repeat(1_100)}"`;

/** Bodies of which an excerpt is kept. */
export const capturedShapes: readonly HostileShape[] = [
  captured("sixty megabytes of words", () => `"x":"${"word ".repeat(12 * MiB)}"`),
  captured("a picture of sixty megabytes", () => `"x":"data:image/png;base64,${"A".repeat(60 * MiB)}"`),
  captured(
    "many pieces of base64 before fifty megabytes",
    () => `"x":[${many(5_000, base64)}],"y":"${" ".repeat(50 * MiB)}"`,
  ),
  captured("many pieces of base64 in lines", () => `"x":[${many(5_000, `\n${base64}`)}],"y":"${" ".repeat(50 * MiB)}"`),
  captured("secrets as far as one sees", () => `"x":[${many(200_000, '"sk-abcdefghijklmnopqrstuvwx"')}]`),
  captured("an address that never ends", () => `"x":"https://${"a:b@".repeat(5 * MiB)}"`),
  {
    ...captured("a video with a picture of thirty megabytes", () => ""),
    path: "/v1/video/tasks",
    body: () => `{"model":"clip","image":"data:image/png;base64,${"A".repeat(30 * MiB)}"}`,
  },
];
