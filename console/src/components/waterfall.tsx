import { formatDuration } from "../client/format.ts";
import { t } from "../language/areas/components.ts";
import type { Tone } from "./status-badge.tsx";

export interface Span {
  readonly id: string;
  readonly label: string;
  /** Milliseconds since the start of the whole chart. */
  readonly startMs: number;
  readonly endMs: number;
  readonly tone: Tone;
  /** Next to the duration: the status, the code. */
  readonly note?: string;
  /** Moments inside: the first byte, the first token. */
  readonly marks?: readonly { readonly atMs: number; readonly label: string }[];
}

interface WaterfallProps {
  readonly label: string;
  readonly spans: readonly Span[];
}

const narrowest = 0.4;

/** The order and duration of spans: one bar each, on a common scale. */
export function Waterfall({ label, spans }: WaterfallProps) {
  const wholeMs = Math.max(1, ...spans.map((span) => span.endMs));
  const place = (ms: number) => `${Math.min(100, Math.max(0, (ms / wholeMs) * 100))}%`;
  return (
    <section aria-label={label} className="waterfall">
      <ol>
        {spans.map((span) => (
          <li key={span.id}>
            <div className="waterfall-label">
              <span className="break">{span.label}</span>
              <span className="tabular nowrap">
                {span.note === undefined ? "" : `${span.note} · `}
                {formatDuration(span.endMs - span.startMs)}
              </span>
            </div>
            <div className="waterfall-track">
              <div
                className="waterfall-bar"
                data-tone={span.tone}
                style={{
                  left: place(span.startMs),
                  width: `${Math.max(narrowest, ((span.endMs - span.startMs) / wholeMs) * 100)}%`,
                }}
              />
              {span.marks?.map((mark) => (
                <div
                  key={mark.label}
                  className="waterfall-mark"
                  style={{ left: place(mark.atMs) }}
                  title={`${mark.label}: ${formatDuration(mark.atMs)}`}
                />
              ))}
            </div>
            {span.marks !== undefined && span.marks.length > 0 && (
              <div className="waterfall-notes">
                {span.marks
                  .map((mark) =>
                    t("components.waterfall.mark", { label: mark.label, after: formatDuration(mark.atMs) }),
                  )
                  .join(" · ")}
              </div>
            )}
          </li>
        ))}
      </ol>
      <div className="waterfall-scale" aria-hidden="true">
        <span>0</span>
        <span>{formatDuration(wholeMs / 2)}</span>
        <span>{formatDuration(wholeMs)}</span>
      </div>
    </section>
  );
}
