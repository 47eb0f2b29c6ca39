import { ActionIcon, Button, Group } from "@mantine/core";
import type { LimitUsageRow, RouteId } from "@sluice/contract";
import { IconPencil } from "@tabler/icons-react";
import { type SubmitEvent, useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { formatCount, formatUsd } from "../../client/format.ts";
import { NumberField } from "../../components/number-field.tsx";
import { t } from "../../language/areas/limits.ts";
import { useUrlChange, useUrlSearch } from "../../routes/search.ts";
import { useSession } from "../../session/session-context.tsx";
import { afterKeyChange } from "../keys/key-routes.ts";
import { RehearseButton } from "../rehearsals/button/rehearse-button.tsx";
import { objectIn } from "./limit-link.ts";
import { kindWords, nameOf } from "./limit-usage-words.ts";
import { useLimitChange } from "./use-limit-change.ts";

const afterLimitChange: readonly RouteId[] = [...afterKeyChange, "members.list", "attention.list"];

/** A limit with a button that turns it into a field. Opened by the URL if a link led here. */
export function LimitCell({ row }: { readonly row: LimitUsageRow }) {
  const search = useUrlSearch();
  const object = objectIn(search);
  const linked = object?.scope === row.scope && object.scope_id === row.scope_id && search["edit"] === row.kind;
  const [opened, setOpened] = useState(false);
  const change = useUrlChange();
  const mayEdit = useMayEdit(row);
  const close = () => {
    setOpened(false);
    if (linked) change({ edit: "", to: "" });
  };
  if (mayEdit && (opened || linked)) {
    const to = linked ? Number(search["to"] ?? "") : 0;
    return <LimitEditor row={row} start={to > 0 ? to : row.limit} onClose={close} />;
  }
  return (
    <Group gap={4} wrap="nowrap">
      <span className="tabular nowrap">{limitWords(row)}</span>
      {mayEdit && (
        <ActionIcon
          variant="subtle"
          size="sm"
          aria-label={t("limits.change.edit", { name: `${nameOf(row)}, ${kindWords(row)}` })}
          onClick={() => setOpened(true)}
        >
          <IconPencil size={14} aria-hidden />
        </ActionIcon>
      )}
    </Group>
  );
}

/** Only administrators change the limits of a workspace. */
function useMayEdit({ scope, workspace }: LimitUsageRow): boolean {
  const { may } = useSession();
  return scope === "workspace" ? may("administrator") : may("admin", workspace.slug);
}

/** `$10.00 per month`, `60` */
function limitWords({ kind, limit, period, rolling }: LimitUsageRow): string {
  if (kind !== "budget") return formatCount(limit);
  // The column before it names the window.
  if (rolling) return formatUsd(limit);
  return `${formatUsd(limit)} ${t("limits.change.period", { period: period ?? "total" })}`;
}

interface LimitEditorProps {
  readonly row: LimitUsageRow;
  readonly start: number;
  readonly onClose: () => void;
}

function LimitEditor({ row, start, onClose }: LimitEditorProps) {
  const { scope, scope_id, kind, workspace, limit: before } = row;
  const [limit, setLimit] = useState<number | null>(start);
  const save = useAct("limits.update", {
    invalidates: afterLimitChange,
    inline: true,
    done: t("limits.change.done"),
    onDone: onClose,
  });
  const change = useLimitChange(row, limit);
  const money = kind === "budget";
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (limit === null) return;
    const body = { scope, scope_id, change: { kind, limit } };
    save.mutate({ params: { workspace: workspace.slug }, body });
  };
  return (
    <form onSubmit={submit} className="limit-editor above-row">
      <Group gap={6} wrap="nowrap" align="flex-start">
        <NumberField
          size="xs"
          w={110}
          data-autofocus
          autoFocus
          aria-label={`${t("limits.change.new")}: ${nameOf(row)}, ${kindWords(row)}`}
          value={limit}
          onChange={setLimit}
          {...(money ? { prefix: "$", decimalScale: 6, min: 0, max: 9_000_000 } : { allowDecimal: false, min: 1 })}
          allowNegative={false}
          thousandSeparator
          hideControls
          error={save.error?.message}
        />
        <RehearseButton
          change={limit === before ? null : change}
          workspace={workspace.slug}
          forAdministrators={scope === "workspace"}
          size="xs"
        />
        <Button type="submit" size="xs" loading={save.isPending} disabled={limit === null || limit === before}>
          {t("limits.change.save")}
        </Button>
        <Button size="xs" variant="subtle" onClick={onClose} onKeyDown={(event) => event.key === "Escape" && onClose()}>
          {t("limits.change.cancel")}
        </Button>
      </Group>
    </form>
  );
}
