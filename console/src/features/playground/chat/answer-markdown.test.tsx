import { expect, test } from "bun:test";
import { MantineProvider } from "@mantine/core";
import { renderToStaticMarkup } from "react-dom/server";
import AnswerMarkdown from "./answer-markdown.tsx";

const shown = (text: string, running = false) =>
  renderToStaticMarkup(
    <MantineProvider>
      <AnswerMarkdown text={text} running={running} />
    </MantineProvider>,
  ).replace(/<style[\s\S]*?<\/style>/g, "");

test("lists, tables, emphasis and code are laid out", () => {
  expect(shown("# Title\n\n1. **one**\n2. `two`")).toMatch(/<h3>Title<\/h3>.*<ol.*<strong>one<\/strong>.*<code>two/s);
  expect(shown("| a | b |\n|---|--:|\n| 1 | 2 |")).toMatch(/<section[^>]*><table>.*<td[^>]*>2/s);
  const code = shown("Look:\n\n```ts\nconst a = 1 < 2;\n```\n");
  expect(code).toContain('aria-label="ts code"');
  expect(code).toContain("<pre>const a = 1 &lt; 2;</pre>");
});

test("model output never becomes an HTML element, a URL or an id of the page", () => {
  const hostile = [
    "<script>alert(1)</script> <img src=x onerror=alert(1)> <iframe src=//evil.example></iframe>",
    "<style>body{display:none}</style><form action=/api/keys><input name=q></form>",
    "[run](javascript:alert(1)) [data](data:text/html,x) [relative](/api/sign-out) <javascript:alert(1)>",
    "![beacon](https://evil.example/seen.png?who=me)",
    "# content",
    "[x]: javascript:alert(1)\n\n[x]",
    "&#x6A;avascript:alert(1) [a](&#x6A;avascript:alert(1))",
  ];
  for (const text of hostile) {
    const html = shown(text);
    expect(html, text).not.toMatch(/<(script|img|iframe|style|form|input|object|svg)\b/i);
    expect(html, text).not.toMatch(/(href|src|action)="(?!https:)/i);
    expect(html, text).not.toMatch(/<[^>]* (id|on\w+)=/i);
  }
});

test("a link opens in a new tab, and an image shows only its name", () => {
  expect(shown("[site](https://example.com/a)")).toContain('rel="noopener noreferrer nofollow"');
  expect(shown("![a boat](https://example.com/a.png)")).toMatch(
    /<a href="https:\/\/example.com\/a.png"[^>]*>a boat<\/a>/,
  );
});

test("while streaming, incomplete Markdown is not shown as raw characters", () => {
  expect(shown("It is **impor", true)).not.toContain("**");
  expect(shown("It is **impor")).toContain("**impor");
});
