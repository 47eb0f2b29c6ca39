import type { ReactNode } from "react";

interface MoreFieldsProps {
  readonly label: string;
  readonly open?: boolean;
  readonly children: ReactNode;
}

/** Rarely used fields, collapsed. */
export function MoreFields({ label, open = false, children }: MoreFieldsProps) {
  return (
    <details className="more-fields" open={open}>
      <summary>{label}</summary>
      <div className="more-fields-body">{children}</div>
    </details>
  );
}
