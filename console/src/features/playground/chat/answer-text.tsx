import { lazy, memo, Suspense } from "react";
import { loadChunk } from "../../../routes/load-chunk.ts";

const AnswerMarkdown = lazy(() => loadChunk(() => import("./answer-markdown.tsx")));

/** Longer texts are not rendered as Markdown, because that would block the page. */
const markdownCharsMax = 200_000;

interface AnswerTextProps {
  readonly text: string;
  readonly running?: boolean;
}

/** Model output as Markdown. Shown as plain text until the Markdown renderer is loaded. */
export const AnswerText = memo(function AnswerText({ text, running = false }: AnswerTextProps) {
  const plain = <div className="answer-words">{text.trimStart()}</div>;
  if (text === "" || text.length > markdownCharsMax) return plain;
  return (
    <Suspense fallback={plain}>
      <AnswerMarkdown text={text} running={running} />
    </Suspense>
  );
});
