import { accepted, chat, type HostileShape, MiB, many, userMessage } from "./hostile-shape.ts";

function captured(what: string, more: () => string): HostileShape {
  const body = () => `{"model":"openai","messages":[${userMessage}],${more()}}`;
  return { name: `captured: ${what}`, path: chat, captured: true, body, answers: accepted };
}

const base64 = `"${"A".repeat(1_100)}"`;

/** Requests with a key that stores an excerpt of each body. */
export const capturedShapes: readonly HostileShape[] = [
  captured("60 MiB of words", () => `"x":"${"word ".repeat(12 * MiB)}"`),
  captured("an image of 60 MiB", () => `"x":"data:image/png;base64,${"A".repeat(60 * MiB)}"`),
  captured("many base64 strings before 50 MiB", () => `"x":[${many(5_000, base64)}],"y":"${" ".repeat(50 * MiB)}"`),
  captured(
    "many base64 strings with line breaks",
    () => `"x":[${many(5_000, `\n${base64}`)}],"y":"${" ".repeat(50 * MiB)}"`,
  ),
  captured("200,000 secrets", () => `"x":[${many(200_000, '"sk-abcdefghijklmnopqrstuvwx"')}]`),
  captured("an endless URL", () => `"x":"https://${"a:b@".repeat(5 * MiB)}"`),
  {
    ...captured("a video with an image of 30 MiB", () => ""),
    path: "/v1/video/tasks",
    body: () => `{"model":"clip","image":"data:image/png;base64,${"A".repeat(30 * MiB)}"}`,
  },
];
