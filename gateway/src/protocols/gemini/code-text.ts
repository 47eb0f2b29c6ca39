import { objectOf, textOf } from "../json/value.ts";

/** Code that the vendor ran on its side, and what came out, as text that any dialect can show; null for other parts. */
export function codeText(part: {
  readonly executableCode?: unknown;
  readonly codeExecutionResult?: unknown;
}): string | null {
  if (part.executableCode !== undefined) {
    const code = objectOf(part.executableCode);
    const language = textOf(code["language"])?.toLowerCase() ?? "";
    return fence(language === "language_unspecified" ? "" : language, textOf(code["code"]) ?? "");
  }
  if (part.codeExecutionResult === undefined) return null;
  return fence("", textOf(objectOf(part.codeExecutionResult)["output"]) ?? "");
}

function fence(language: string, text: string): string {
  return `\n\`\`\`${language}\n${text}${text === "" || text.endsWith("\n") ? "" : "\n"}\`\`\`\n`;
}
