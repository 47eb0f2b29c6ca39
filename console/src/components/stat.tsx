import { Paper, Skeleton } from "@mantine/core";
import { IconTrendingDown, IconTrendingUp } from "@tabler/icons-react";
import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { formatShare } from "../client/format.ts";
import { t } from "../language/areas/components.ts";
import { Sparkline } from "./sparkline.tsx";

interface StatProps {
  readonly label: string;
  /** undefined while it loads. */
  readonly value: ReactNode | undefined;
  readonly hint?: ReactNode;
  /** The current and the previous figure, to show the change. */
  readonly change?: { readonly now: number | null; readonly before: number | null };
  /** Whether more is better: sets the color of the change. `neither`: gray. */
  readonly better?: "more" | "less" | "neither";
  /** Makes the figure a switch that filters the list below. */
  readonly filter?: { readonly active: boolean; readonly onToggle: () => void };
  /** Where the figure leads. */
  readonly link?: LinkProps;
  /** Values over the period, drawn as a small line below. */
  readonly trend?: readonly (number | null)[];
}

/** One figure with its name, used in a row (`Stats`). */
export function Stat({ label, value, hint, change, better = "neither", trend, filter, link }: StatProps) {
  const content = (
    <>
      <div className="stat-label">{label}</div>
      <div className="stat-value">{value === undefined ? <Skeleton height={24} width="60%" mt={4} /> : value}</div>
      <div className="stat-hint">
        {change !== undefined && <Change {...change} better={better} />}
        {hint}
      </div>
      {trend !== undefined && <Sparkline values={trend} />}
    </>
  );
  if (link !== undefined) {
    return (
      <Paper withBorder className="card stat stat-action" renderRoot={(props) => <Link {...link} {...props} />}>
        {content}
      </Paper>
    );
  }
  return filter === undefined ? (
    <Paper withBorder className="card stat">
      {content}
    </Paper>
  ) : (
    <Paper
      withBorder
      component="button"
      type="button"
      className="card stat stat-action"
      aria-pressed={filter.active}
      onClick={filter.onToggle}
    >
      {content}
    </Paper>
  );
}

export function Stats({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <section aria-label={label} className="stats">
      {children}
    </section>
  );
}

interface ChangeProps {
  readonly now: number | null;
  readonly before: number | null;
  readonly better: "more" | "less" | "neither";
}

const hardlyAny = 0.005;

function Change({ now, before, better }: ChangeProps) {
  if (now === null || before === null || before === 0) return null;
  const share = now / before - 1;
  if (Math.abs(share) < hardlyAny) return <span>{t("components.stat.same")}</span>;
  const up = share > 0;
  const tone = better === "neither" ? undefined : up === (better === "more") ? "good" : "bad";
  const Mark = up ? IconTrendingUp : IconTrendingDown;
  return (
    <span className="stat-change" data-tone={tone}>
      <Mark size={14} aria-hidden />
      {up ? "+" : "−"}
      {formatShare(Math.abs(share))}
      <span className="unseen">{t("components.stat.before")}</span>
    </span>
  );
}
