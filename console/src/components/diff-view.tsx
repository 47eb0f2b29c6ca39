import { Text } from "@mantine/core";
import { t } from "../language/areas/components.ts";
import { type Change, changesBetween } from "./changes.ts";

interface DiffViewProps {
  readonly before: unknown;
  readonly after: unknown;
  readonly label: string;
}

/** The fields that differ between two values. */
export function DiffView({ before, after, label }: DiffViewProps) {
  const changes = changesBetween(before, after);
  if (changes.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t("components.diff.none")}
      </Text>
    );
  }
  return (
    <section className="code-scroll diff-view" aria-label={label}>
      <table className="plain-table">
        <thead className="unseen">
          <tr>
            <th scope="col">{t("components.diff.field")}</th>
            <th scope="col">{t("components.diff.before")}</th>
            <th scope="col">{t("components.diff.after")}</th>
          </tr>
        </thead>
        <tbody>
          {changes.map((change) => (
            <ChangeRow key={change.path} change={change} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function ChangeRow({ change: { path, before, after } }: { readonly change: Change }) {
  return (
    <tr>
      <th scope="row">{path === "" ? t("components.labels.value") : path}</th>
      <td>{before === undefined ? null : <del>{JSON.stringify(before)}</del>}</td>
      <td>{after === undefined ? null : <ins>{JSON.stringify(after)}</ins>}</td>
    </tr>
  );
}
