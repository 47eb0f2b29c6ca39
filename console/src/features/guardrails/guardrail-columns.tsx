import { Button, Group } from "@mantine/core";
import { type ConsoleGuardrail, everyWorkspace } from "@sluice/contract";
import { useAct } from "../../api/use-act.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import type { Column } from "../../components/data-table.tsx";
import { ManagedByFile } from "../../components/managed-by-file.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/guardrails.ts";
import { findsWords, scopeWords } from "./guardrail-words.ts";

interface GuardrailColumnsOptions {
  readonly open: (id: string) => void;
  readonly mayChange: (guardrail: ConsoleGuardrail) => boolean;
}

export function guardrailColumns({ open, mayChange }: GuardrailColumnsOptions): readonly Column<ConsoleGuardrail>[] {
  return [
    {
      id: "name",
      header: t("guardrails.list.name"),
      sortBy: ({ name }) => name,
      cell: (guardrail) => (
        <Group gap={6}>
          <b className="break">{guardrail.name}</b>
          <GuardrailBadges guardrail={guardrail} />
        </Group>
      ),
    },
    { id: "finds", header: t("guardrails.list.finds"), cell: findsWords },
    {
      id: "action",
      header: t("guardrails.list.action"),
      sortBy: ({ action }) => action,
      cell: ({ action }) => t(`guardrails.actions.${action}`),
    },
    { id: "scope", header: t("guardrails.list.scope"), cell: scopeWords },
    {
      id: "do",
      header: t("guardrails.list.actions"),
      quiet: true,
      cell: (guardrail) =>
        mayChange(guardrail) ? <GuardrailActions guardrail={guardrail} onOpen={() => open(guardrail.id)} /> : null,
    },
  ];
}

/** Shows if the guardrail is off, in shadow mode, inherited, or managed by the config file. */
export function GuardrailBadges({ guardrail }: { readonly guardrail: ConsoleGuardrail }) {
  const { enabled, enforce, inherited, managed_by: owner } = guardrail;
  return (
    <>
      {!enabled && <StatusBadge status="off" label={t("guardrails.list.off")} />}
      {enabled && !enforce && (
        <StatusBadge
          status="shadow"
          tone="busy"
          label={t("guardrails.list.shadow")}
          hint={t("guardrails.list.shadowHint")}
        />
      )}
      {inherited && (
        <StatusBadge
          status="above"
          tone="off"
          label={t("guardrails.list.above")}
          hint={t("guardrails.list.aboveHint")}
        />
      )}
      <ManagedByFile by={owner} />
    </>
  );
}

interface GuardrailActionsProps {
  readonly guardrail: ConsoleGuardrail;
  readonly onOpen: () => void;
}

function GuardrailActions({ guardrail, onOpen }: GuardrailActionsProps) {
  const { id, name, enabled, managed_by: owner } = guardrail;
  const invalidates = ["guardrails.list", "guardrails.show"] as const;
  const enable = useAct("guardrails.update", { invalidates, done: t("guardrails.enabled") });
  const disable = useAct("guardrails.update", { invalidates, done: t("guardrails.disabled") });
  const remove = useAct("guardrails.remove", { invalidates: ["guardrails.list"], done: t("guardrails.removed") });
  const params = { workspace: guardrail.workspace?.slug ?? everyWorkspace, guardrail: id };
  const mine = owner === "console";
  // Only the page of the installation offers what would change every workspace with one click.
  const isOwn = !guardrail.inherited;
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      <Button
        variant="default"
        size="compact-xs"
        aria-label={mine ? t("guardrails.editOf", { name }) : t("guardrails.viewOf", { name })}
        onClick={onOpen}
      >
        {mine ? t("guardrails.edit") : t("guardrails.view")}
      </Button>
      {isOwn && mine && !enabled && (
        <Button
          variant="default"
          size="compact-xs"
          aria-label={t("guardrails.enableOf", { name })}
          loading={enable.isPending}
          onClick={() => enable.mutate({ params, body: { enabled: true } })}
        >
          {t("guardrails.enable")}
        </Button>
      )}
      {isOwn && mine && enabled && (
        <ConfirmButton
          title={t("guardrails.disableTitle", { name })}
          verb={t("guardrails.disable")}
          size="compact-xs"
          onConfirm={() => disable.mutateAsync({ params, body: { enabled: false } })}
        >
          {t("guardrails.disableHelp")}
        </ConfirmButton>
      )}
      {isOwn && owner !== "file" && (
        <ConfirmButton
          title={t("guardrails.removeTitle", { name })}
          verb={t("guardrails.removeVerb")}
          label={t("guardrails.remove")}
          size="compact-xs"
          onConfirm={() => remove.mutateAsync({ params })}
        >
          {t("guardrails.removeHelp")}
        </ConfirmButton>
      )}
    </Group>
  );
}
