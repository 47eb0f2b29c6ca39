import type { ReactNode } from "react";
import { locale } from "../../language/index.ts";

export interface ScoreRow {
  readonly id: string;
  readonly name: ReactNode;
  readonly note?: string;
  /** Drawn as a share of 1; values outside 0 to 1 are clamped. */
  readonly score: number;
  readonly tone?: "bad";
}

/** Scores side by side, each with a bar. */
export function ScoreList({ label, rows }: { readonly label: string; readonly rows: readonly ScoreRow[] }) {
  return (
    <ol className="scores" aria-label={label}>
      {rows.map(({ id, name, note, score, tone }) => (
        <li key={id} data-tone={tone}>
          <span className="score-name">
            {name}
            {note !== undefined && <span className="score-note"> {note}</span>}
          </span>
          <span className="score-bar">
            <svg width="100%" height="6" aria-hidden>
              <rect width={`${Math.min(1, Math.max(0, score)) * 100}%`} height="6" rx="3" />
            </svg>
          </span>
          <span className="score-figure">{formatScore(score)}</span>
        </li>
      ))}
    </ol>
  );
}

const figures = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 });

/** Three significant digits, without scientific notation. */
function formatScore(score: number): string {
  return score !== 0 && Math.abs(score) < 0.000_1 ? `< ${figures.format(0.000_1)}` : figures.format(score);
}
