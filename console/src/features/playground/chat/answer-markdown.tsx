import Markdown, { sanitizer } from "markdown-to-jsx/react";
import { type ComponentProps, isValidElement, type ReactNode, useDeferredValue } from "react";
import { CodeBlock } from "../../../components/code-block.tsx";
import { t } from "../../../language/areas/playground.ts";

interface AnswerMarkdownProps {
  readonly text: string;
  /** The answer is still streaming: incomplete Markdown is not shown yet. */
  readonly running: boolean;
}

/**
 * Renders a response as Markdown. Model output is untrusted: HTML is ignored, links open in a new tab, images are not loaded (their
 * server would learn that this is being read), and headings get no ids of the page.
 */
export default function AnswerMarkdown({ text, running }: AnswerMarkdownProps) {
  // Parsing again for every word would block the page, so pending text is parsed together.
  const shown = useDeferredValue(text);
  return (
    <div className="markdown">
      <Markdown options={running ? streamed : whole}>{shown}</Markdown>
    </div>
  );
}

const heading = (level: "h3" | "h4") => {
  const Level = level;
  return ({ children }: { readonly children?: ReactNode }) => <Level>{children}</Level>;
};

const whole = {
  disableParsingRawHTML: true,
  forceBlock: true,
  sanitizer: safeAddress,
  overrides: {
    a: Away,
    img: Named,
    pre: Fence,
    table: Wide,
    input: Box,
    h1: heading("h3"),
    h2: heading("h3"),
    h3: heading("h4"),
    h4: heading("h4"),
    h5: heading("h4"),
    h6: heading("h4"),
  },
};
const streamed = { ...whole, optimizeForStreaming: true };

/** Web URLs only; relative URLs would point into the console. */
function safeAddress(value: string): string | null {
  const safe = sanitizer(value);
  return safe !== null && /^(https?:|mailto:|#)/i.test(safe) ? safe : null;
}

function Away({ href, title, children }: ComponentProps<"a">) {
  if (href === undefined || href.startsWith("#")) return <span>{children}</span>;
  return (
    <a href={href} title={title ?? href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

function Named({ src, alt }: ComponentProps<"img">) {
  const name = alt === undefined || alt === "" ? t("playground.markdown.image") : alt;
  return typeof src === "string" ? <Away href={src}>{name}</Away> : <span>{name}</span>;
}

function Fence({ children }: ComponentProps<"pre">) {
  const language = /\blang(?:uage)?-(\S+)/.exec(classOf(children))?.[1];
  return (
    <CodeBlock
      code={textOf(children).replace(/\n$/, "")}
      label={language === undefined ? t("playground.markdown.code") : t("playground.markdown.codeIn", { language })}
    />
  );
}

function Wide({ children }: ComponentProps<"table">) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <section className="sideways" tabIndex={0} aria-label={t("playground.markdown.table")}>
      <table>{children}</table>
    </section>
  );
}

/** The checkbox of a task list, read-only. */
function Box({ checked }: ComponentProps<"input">) {
  return <span>{checked === true ? "☑" : "☐"}</span>;
}

function classOf(node: ReactNode): string {
  return isValidElement<{ className?: string }>(node) ? (node.props.className ?? "") : "";
}

function textOf(node: ReactNode): string {
  if (typeof node === "string" || typeof node === "number") return String(node);
  if (Array.isArray(node)) return node.map(textOf).join("");
  return isValidElement<{ children?: ReactNode }>(node) ? textOf(node.props.children) : "";
}
