export interface TextPiece {
  readonly kind: "words" | "code";
  readonly text: string;
  readonly language: string;
}

/** Words and fenced code of an answer, in order. A fence that has not closed yet is code to the end. */
export function piecesOf(text: string): readonly TextPiece[] {
  const pieces: TextPiece[] = [];
  let lines: string[] = [];
  let fence: { readonly mark: string; readonly language: string } | null = null;
  const end = () => {
    const joined = lines.join("\n");
    const kept = fence === null ? joined.replace(/^\n+|\n+$/g, "") : joined;
    if (kept !== "")
      pieces.push({ kind: fence === null ? "words" : "code", text: kept, language: fence?.language ?? "" });
    lines = [];
  };
  for (const line of text.split("\n")) {
    const [, mark = "", language = ""] = /^\s{0,3}(`{3,}|~{3,})\s*([\w+#.-]*)\s*$/.exec(line) ?? [];
    const closes: boolean = fence !== null && mark.startsWith(fence.mark) && language === "";
    const opens: boolean = fence === null && mark !== "";
    if (!closes && !opens) {
      lines.push(line);
      continue;
    }
    end();
    fence = opens ? { mark, language } : null;
  }
  end();
  return pieces;
}
