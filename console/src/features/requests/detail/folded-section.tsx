import { Paper } from "@mantine/core";
import { IconChevronRight } from "@tabler/icons-react";
import type { ReactNode } from "react";

interface FoldedSectionProps {
  readonly title: string;
  readonly description?: ReactNode;
  readonly open?: boolean;
  /** Lets a table reach the edges. */
  readonly flush?: boolean;
  readonly children: ReactNode;
}

/** A card that opens with its heading. */
export function FoldedSection({ title, description, open = false, flush = false, children }: FoldedSectionProps) {
  return (
    <Paper withBorder component="details" className="card section folded-section" open={open}>
      <summary className="folded-head">
        <IconChevronRight size={15} aria-hidden className="folded-mark" />
        <h2 className="section-title">{title}</h2>
        {description !== undefined && <span className="aside">{description}</span>}
      </summary>
      <div className={flush ? "section-flush" : "section-body"}>{children}</div>
    </Paper>
  );
}
