import { Button, Group, Text } from "@mantine/core";
import type { ListedKey, QueryInput } from "@sluice/contract";
import { useState } from "react";
import { useClient } from "../../../api/call-context.tsx";
import { Problem } from "../../../client/problem.ts";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { t } from "../../../language/areas/keys.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import { BulkDialog } from "./bulk-dialog.tsx";
import { type BulkAction, bulkActions } from "./bulk-plan.ts";

export type SelectedKeys = ReadonlyMap<string, ListedKey>;

/** At most this many keys can be changed together. */
const selectedMax = 1_000;
const pageMax = 200;

interface BulkBarProps {
  readonly selected: SelectedKeys;
  readonly onChange: (selected: SelectedKeys) => void;
  /** The request of the list, with its filters. */
  readonly list: { readonly params: { readonly workspace: string }; readonly query: QueryInput<"keys.list"> };
  readonly total: number | null;
}

/** The actions for selected keys, above the list. */
export function BulkBar({ selected, onChange, list, total }: BulkBarProps) {
  const { slug, may } = useWorkspace();
  const [action, setAction] = useState<BulkAction | null>(null);
  const all = useSelectAll(list, onChange);
  const keys = [...selected.values()];
  // A group and an owner belong to one workspace.
  const workspaces = new Set(keys.map((key) => key.workspace.slug));
  const place = slug ?? (workspaces.size === 1 ? (keys[0]?.workspace.slug ?? null) : null);
  const offered = bulkActions.filter(
    (each) => (each !== "group" && each !== "transfer") || (place !== null && may("admin")),
  );
  return (
    <search>
      <Group gap="xs" className="bulk-bar">
        <Text size="sm" fw={500} aria-live="polite">
          {t("keys.bulk.selected", { count: selected.size })}
        </Text>
        {total !== null && total > selected.size && total <= selectedMax && (
          <Button variant="subtle" loading={all.loading} onClick={() => void all.load()}>
            {t("keys.bulk.selectAll", { count: total })}
          </Button>
        )}
        {offered.map((each) => (
          <Button key={each} variant="default" onClick={() => setAction(each)}>
            {t(`keys.bulk.actions.${each}`)}
          </Button>
        ))}
        <Button variant="subtle" onClick={() => onChange(new Map())}>
          {t("keys.bulk.clear")}
        </Button>
      </Group>
      {all.problem !== null && <ProblemAlert problem={all.problem} onRetry={() => void all.load()} />}
      {action !== null && (
        <BulkDialog
          action={action}
          keys={keys}
          workspace={place}
          onClose={() => setAction(null)}
          onChanged={(failed) => onChange(new Map([...selected].filter(([id]) => failed.has(id))))}
        />
      )}
    </search>
  );
}

/** Loads all keys that match the filters and selects them. */
function useSelectAll(list: BulkBarProps["list"], onChange: BulkBarProps["onChange"]) {
  const call = useClient();
  const [loading, setLoading] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const load = async () => {
    setLoading(true);
    setProblem(null);
    try {
      const found = new Map<string, ListedKey>();
      for (let cursor: string | null = ""; cursor !== null && found.size < selectedMax; ) {
        const query = { ...list.query, limit: pageMax, ...(cursor === "" ? {} : { cursor }) };
        const page: { data: ListedKey[]; next: string | null } = await call("keys.list", { ...list, query });
        for (const key of page.data) found.set(key.id, key);
        cursor = page.next;
      }
      onChange(found);
    } catch (thrown) {
      if (!(thrown instanceof Problem)) throw thrown;
      setProblem(thrown);
    } finally {
      setLoading(false);
    }
  };
  return { load, loading, problem };
}
