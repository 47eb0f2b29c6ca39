import { t } from "../language/areas/components.ts";
import { CopyButton } from "./copy-button.tsx";

interface JsonViewProps {
  readonly value: unknown;
  readonly label: string;
  /** How many levels are expanded at first. */
  readonly open?: number;
}

const shownMax = 200;
const textMax = 2_000;

/** JSON as a collapsible tree, with a button to copy the whole text. */
export function JsonView({ value, label, open = 2 }: JsonViewProps) {
  return (
    <div className="code-block">
      <section className="code-scroll json-view" aria-label={label}>
        <Node value={value} open={open} />
      </section>
      <div className="code-copy">
        <CopyButton value={JSON.stringify(value, null, 2) ?? ""} label={t("components.copy.labelled", { label })} />
      </div>
    </div>
  );
}

function Node({ value, open }: { readonly value: unknown; readonly open: number }) {
  if (value === null || typeof value !== "object") return <Leaf value={value} />;
  const list = Array.isArray(value);
  const entries = Object.entries(value);
  if (entries.length === 0) return <span className="json-mark">{list ? "[]" : "{}"}</span>;
  return (
    <details open={open > 0} className="json-node">
      <summary>
        <span className="json-mark">{list ? `[ ${entries.length} ]` : `{ ${entries.length} }`}</span>
      </summary>
      <ul>
        {entries.slice(0, shownMax).map(([name, member]) => (
          <li key={name}>
            <span className="json-name">{name}</span>
            <span className="json-mark">: </span>
            <Node value={member} open={open - 1} />
          </li>
        ))}
        {entries.length > shownMax && (
          <li className="json-mark">{t("components.json.more", { count: entries.length - shownMax })}</li>
        )}
      </ul>
    </details>
  );
}

function Leaf({ value }: { readonly value: unknown }) {
  const text = JSON.stringify(value) ?? "undefined";
  return (
    <span className="json-leaf" data-type={value === null ? "null" : typeof value}>
      {text.length > textMax ? t("components.json.cut", { start: text.slice(0, textMax), count: text.length }) : text}
    </span>
  );
}
