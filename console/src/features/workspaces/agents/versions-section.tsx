import { Button, Stack, Text } from "@mantine/core";
import type { AnswerOf } from "@sluice/contract";
import { IconHistory } from "@tabler/icons-react";
import { useMemo, useState } from "react";
import { useCall } from "../../../api/use-call.ts";
import { CodeBlock } from "../../../components/code-block.tsx";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { DiffView } from "../../../components/diff-view.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { When } from "../../../components/figures.tsx";
import { FormProblem } from "../../../components/form-problem.tsx";
import { Modal } from "../../../components/modal.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { rowsIn } from "../../../components/rows.ts";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/agents.ts";
import { textOf } from "./settings-draft.ts";
import type { GroupParams, SettingsNow } from "./settings-routes.ts";
import { useSettingsChange } from "./use-settings-change.ts";

interface VersionsSectionProps {
  readonly params: GroupParams;
  readonly now: SettingsNow;
  readonly mayChange: boolean;
}

type Version = AnswerOf<"agents.settingsVersions">["data"][number];

/** The versions of the group's settings, which can be viewed and restored. */
export function VersionsSection({ params, now, mayChange }: VersionsSectionProps) {
  const [open, setOpen] = useState<number | null>(null);
  const query = useCall("agents.settingsVersions", { params });
  const columns = useMemo(() => columnsFor(setOpen), []);
  return (
    <Section title={t("agents.versions")} description={t("agents.versionsHelp")} flush>
      <DataTable
        label={t("agents.versions")}
        columns={columns}
        rows={rowsIn(query, (answer) => answer.data)}
        rowKey={({ version }) => String(version)}
        pageSize={10}
        empty={
          <EmptyState icon={<IconHistory />} title={t("agents.versionsEmpty")}>
            {t("agents.versionsHelp")}
          </EmptyState>
        }
      />
      <Modal
        opened={open !== null}
        onClose={() => setOpen(null)}
        title={t("agents.versionTitle", { version: open ?? 0 })}
        size="lg"
      >
        {open !== null && (
          <VersionBody params={params} version={open} now={now} mayChange={mayChange} onDone={() => setOpen(null)} />
        )}
      </Modal>
    </Section>
  );
}

function columnsFor(open: (version: number) => void): readonly Column<Version>[] {
  return [
    {
      id: "version",
      header: t("agents.version"),
      cell: ({ version }) => <b>{version}</b>,
      sortBy: (row) => row.version,
    },
    { id: "at", header: t("agents.at"), cell: ({ at }) => <When at={at} />, sortBy: (row) => row.at },
    { id: "by", header: t("agents.by"), cell: ({ by }) => by, sortBy: (row) => row.by },
    {
      id: "what",
      header: t("agents.what"),
      cell: ({ checksum }) =>
        checksum === null ? t("agents.tookAway") : <code>{checksum.slice("sha256:".length, 19)}</code>,
    },
    {
      id: "do",
      header: t("agents.actions"),
      quiet: true,
      cell: ({ version }) => (
        <Button
          variant="default"
          size="compact-xs"
          aria-label={t("agents.viewVersion", { version })}
          onClick={() => open(version)}
        >
          {t("agents.view")}
        </Button>
      ),
    },
  ];
}

interface VersionBodyProps extends VersionsSectionProps {
  readonly version: number;
  readonly onDone: () => void;
}

function VersionBody({ params, version, now, mayChange, onDone }: VersionBodyProps) {
  const query = useCall("agents.settingsVersion", { params: { ...params, version: String(version) } });
  const restore = useSettingsChange({ done: t("agents.restored", { version }), onDone });
  if (query.data === undefined) {
    return query.error === null ? null : <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />;
  }
  const { settings } = query.data;
  const { settings: saved, checksum: replaces } = now;
  const same = textOf(settings) === textOf(saved);
  return (
    <Stack>
      {settings === null ? (
        <Text>{t("agents.tookAway")}</Text>
      ) : (
        <CodeBlock code={textOf(settings)} label={t("agents.versionTitle", { version })} maxHeight="28rem" />
      )}
      <Text size="sm" fw={600}>
        {t("agents.againstNow")}
      </Text>
      <DiffView before={saved ?? {}} after={settings ?? {}} label={t("agents.againstNow")} />
      <FormProblem problem={restore.error} />
      {mayChange && !same && (
        <Button loading={restore.isPending} onClick={() => restore.mutate({ params, body: { settings, replaces } })}>
          {t("agents.restore")}
        </Button>
      )}
    </Stack>
  );
}
