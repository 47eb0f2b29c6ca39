import { t } from "../language/areas/components.ts";
import { CopyButton } from "./copy-button.tsx";

interface CodeBlockProps {
  readonly code: string;
  /** The block's name for screen readers. */
  readonly label: string;
  /** The copied text, where it differs from the shown one. */
  readonly copy?: string;
  /** Lines break instead of scrolling sideways. */
  readonly wrap?: boolean;
  /** CSS length, after which the block scrolls. */
  readonly maxHeight?: string;
}

export function CodeBlock({ code, label, copy, wrap = false, maxHeight }: CodeBlockProps) {
  return (
    <div className="code-block">
      <section
        className={wrap ? "code-scroll code-wrap" : "code-scroll"}
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
        tabIndex={0}
        style={maxHeight === undefined ? undefined : { maxHeight }}
      >
        <pre>{code}</pre>
      </section>
      <div className="code-copy">
        <CopyButton value={copy ?? code} label={t("components.copy.labelled", { label })} />
      </div>
    </div>
  );
}
