import { Alert, Button, Code, Group, List, Progress, Stack, Text } from "@mantine/core";
import { IconDownload, IconKey } from "@tabler/icons-react";
import { useCall } from "../../api/use-call.ts";
import { formatBytes } from "../../client/format.ts";
import { CodeBlock } from "../../components/code-block.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Section } from "../../components/section.tsx";
import { Rich, t } from "../../language/areas/settings.ts";
import type { BackupProgress } from "./backup-download.ts";
import { useBackup } from "./use-backup.ts";

/** Downloads a copy of the database, and explains how to restore it. */
export function BackupTab() {
  const { state, begin, stop } = useBackup();
  const system = useCall("system.show");
  const size = system.data?.database.size_bytes ?? null;
  const busy = state.step === "asked";
  return (
    <Stack gap="lg">
      <Section
        title={t("settings.backup.title")}
        description={t("settings.backup.help")}
        actions={
          busy ? (
            <Button variant="default" onClick={stop}>
              {t("settings.backup.stop")}
            </Button>
          ) : (
            <Button leftSection={<IconDownload size={14} aria-hidden />} onClick={begin}>
              {t("settings.backup.download")}
            </Button>
          )
        }
      >
        <Stack gap="sm">
          {state.step === "asked" && <Doing progress={state.progress} />}
          {state.step === "failed" && <ProblemAlert problem={state.problem} />}
          {state.step === "done" && (
            <Text fz="sm" role="status">
              <Rich
                text="settings.backup.downloaded"
                tags={{ file: (inside) => <Code className="break">{inside}</Code> }}
                values={{ size: formatBytes(state.bytes), name: state.name }}
              />
            </Text>
          )}
          {state.step === "idle" && size !== null && (
            <Text fz="sm" c="dimmed">
              {t("settings.backup.size", { size: formatBytes(size) })}
            </Text>
          )}
          <Alert
            variant="light"
            color="yellow"
            icon={<IconKey size={18} />}
            title={t("settings.backup.keyFile")}
            role="note"
          >
            <Rich text="settings.backup.keyFileHelp" tags={{ code: (inside) => <Code>{inside}</Code> }} />
          </Alert>
        </Stack>
      </Section>
      <Section title={t("settings.backup.contents")}>
        <Group align="flex-start" grow preventGrowOverflow={false} gap="lg">
          <Parts title={t("settings.backup.included")} parts={included} />
          <Parts title={t("settings.backup.notIncluded")} parts={notIncluded} />
        </Group>
      </Section>
      <Section title={t("settings.backup.restore")} description={t("settings.backup.restoreHelp")}>
        <CodeBlock code={restoreCommands} label={t("settings.backup.restoreCommands")} wrap />
      </Section>
    </Stack>
  );
}

const included = [
  t("settings.backup.in.people"),
  t("settings.backup.in.keys"),
  t("settings.backup.in.settings"),
  t("settings.backup.in.records"),
  t("settings.backup.in.tasks"),
];

const notIncluded = [
  t("settings.backup.out.key"),
  t("settings.backup.out.config"),
  t("settings.backup.out.files"),
  t("settings.backup.out.journal"),
];

function Parts({ title, parts }: { readonly title: string; readonly parts: readonly string[] }) {
  return (
    <div>
      <Text fz="sm" fw={600} mb={4}>
        {title}
      </Text>
      <List size="sm" spacing={4}>
        {parts.map((part) => (
          <List.Item key={part}>{part}</List.Item>
        ))}
      </List>
    </div>
  );
}

const restoreCommands = [
  t("settings.backup.restoreComment"),
  "rm -f sluice.db-wal sluice.db-shm",
  "cp sluice-<date>.sqlite sluice.db",
  "cp <kept elsewhere>/master.key master.key && chmod 600 master.key",
].join("\n");

function Doing({ progress }: { readonly progress: BackupProgress | null }) {
  if (progress === null) {
    return (
      <div>
        <Progress value={100} animated aria-label={t("settings.backup.making")} />
        <Text fz="xs" c="dimmed" mt={4} role="status">
          {t("settings.backup.makingHelp")}
        </Text>
      </div>
    );
  }
  const share = progress.total === null || progress.total === 0 ? null : progress.received / progress.total;
  return (
    <div>
      <Progress
        value={share === null ? 100 : share * 100}
        animated={share === null}
        aria-label={t("settings.backup.progress")}
      />
      <Text fz="xs" c="dimmed" mt={4} className="tabular">
        {progress.total === null
          ? formatBytes(progress.received)
          : t("settings.backup.received", {
              received: formatBytes(progress.received),
              total: formatBytes(progress.total),
            })}
      </Text>
    </div>
  );
}
