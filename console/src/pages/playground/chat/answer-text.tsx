import { memo, useMemo } from "react";
import { CodeBlock } from "../../../parts/code-block.tsx";
import { piecesOf } from "./text-pieces.ts";

/** An answer as it was written, with its fenced code in blocks that can be copied. */
export const AnswerText = memo(function AnswerText({ text }: { readonly text: string }) {
  const pieces = useMemo(() => piecesOf(text.trimStart()), [text]);
  return pieces.map((piece, at) =>
    piece.kind === "code" ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: an answer only grows at its end.
      <CodeBlock key={at} code={piece.text} label={piece.language === "" ? "code" : `${piece.language} code`} />
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: an answer only grows at its end.
      <div key={at} className="answer-words">
        {piece.text}
      </div>
    ),
  );
});
