import type { ReactNode } from "react";

interface MoreFieldsProps {
  readonly label: string;
  readonly open?: boolean;
  readonly children: ReactNode;
}

/** Fields that few need, folded away. */
export function MoreFields({ label, open = false, children }: MoreFieldsProps) {
  return (
    <details className="more-fields" open={open}>
      <summary>{label}</summary>
      <div className="more-fields-body">{children}</div>
    </details>
  );
}
