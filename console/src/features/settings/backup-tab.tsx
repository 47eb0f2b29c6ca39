import { Alert, Button, Code, Group, List, Progress, Stack, Text } from "@mantine/core";
import { IconDownload, IconKey } from "@tabler/icons-react";
import { useCall } from "../../api/use-call.ts";
import { formatBytes } from "../../client/format.ts";
import { CodeBlock } from "../../components/code-block.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Section } from "../../components/section.tsx";
import type { BackupProgress } from "./backup-download.ts";
import { useBackup } from "./use-backup.ts";

/** A copy of the database as it stands, and what else one needs to come back from it. */
export function BackupTab() {
  const { state, begin, stop } = useBackup();
  const system = useCall("system.show");
  const size = system.data?.database.size_bytes ?? null;
  const busy = state.step === "asked";
  return (
    <Stack gap="lg">
      <Section
        title="Download a backup"
        description="A whole and consistent copy of the database, made while the gateway goes on serving. The download is noted in the audit log."
        actions={
          busy ? (
            <Button variant="default" onClick={stop}>
              Stop
            </Button>
          ) : (
            <Button leftSection={<IconDownload size={14} aria-hidden />} onClick={begin}>
              Download backup
            </Button>
          )
        }
      >
        <Stack gap="sm">
          {state.step === "asked" && <Doing progress={state.progress} />}
          {state.step === "failed" && <ProblemAlert problem={state.problem} />}
          {state.step === "done" && (
            <Text fz="sm" role="status">
              Downloaded {formatBytes(state.bytes)} as <Code className="break">{state.name}</Code>.
            </Text>
          )}
          {state.step === "idle" && size !== null && (
            <Text fz="sm" c="dimmed">
              The database takes {formatBytes(size)} now.
            </Text>
          )}
          <Alert
            variant="light"
            color="yellow"
            icon={<IconKey size={18} />}
            title="The key file is not in it"
            role="note"
          >
            Keep <Code>master.key</Code> of the data directory (or <Code>SLUICE_MASTER_KEY</Code>) in another place.
            Without it a backup brings back no provider's secret, and no API key works any more.
          </Alert>
        </Stack>
      </Section>
      <Section title="What a backup holds">
        <Group align="flex-start" grow preventGrowOverflow={false} gap="lg">
          <div>
            <Text fz="sm" fw={600} mb={4}>
              In it
            </Text>
            <List size="sm" spacing={4}>
              <List.Item>workspaces, groups, members, users and how they sign in</List.Item>
              <List.Item>keys as digests; secrets of providers, sealed</List.Item>
              <List.Item>models, prices, limits, settings</List.Item>
              <List.Item>the ledger, sums, explanations, captures, the audit log</List.Item>
              <List.Item>video tasks and assets, without their bytes</List.Item>
            </List>
          </div>
          <div>
            <Text fz="sm" fw={600} mb={4}>
              Not in it
            </Text>
            <List size="sm" spacing={4}>
              <List.Item>the key file</List.Item>
              <List.Item>the config file</List.Item>
              <List.Item>bytes of assets and copied videos (the blob folder or bucket)</List.Item>
              <List.Item>calls of the last moments that stand only in the journal</List.Item>
            </List>
          </div>
        </Group>
      </Section>
      <Section
        title="Coming back from one"
        description="On a stopped gateway. Whatever stands in the data directory's own database is replaced."
      >
        <CodeBlock code={restoreCommands} label="commands to restore" wrap />
      </Section>
    </Stack>
  );
}

const restoreCommands = [
  "# in the data directory, with the gateway stopped",
  "rm -f sluice.db-wal sluice.db-shm",
  "cp sluice-<date>.sqlite sluice.db",
  "cp <kept elsewhere>/master.key master.key && chmod 600 master.key",
].join("\n");

function Doing({ progress }: { readonly progress: BackupProgress | null }) {
  if (progress === null) {
    return (
      <div>
        <Progress value={100} animated aria-label="The copy is being made" />
        <Text fz="xs" c="dimmed" mt={4} role="status">
          The gateway makes the copy. This takes a while for a large database.
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
        aria-label="Download of the backup"
      />
      <Text fz="xs" c="dimmed" mt={4} className="tabular">
        {formatBytes(progress.received)}
        {progress.total === null ? "" : ` of ${formatBytes(progress.total)}`}
      </Text>
    </div>
  );
}
