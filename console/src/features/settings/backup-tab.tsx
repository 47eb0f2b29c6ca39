import { Alert, Button, Code, Group, List, Progress, Stack, Text } from "@mantine/core";
import { IconDownload, IconKey } from "@tabler/icons-react";
import { useCall } from "../../api/use-call.ts";
import { formatBytes } from "../../client/format.ts";
import { CodeBlock } from "../../components/code-block.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/settings.ts";
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
        title={t("settings.downloadABackup")}
        description={t("settings.aWholeAndConsistentCopy")}
        actions={
          busy ? (
            <Button variant="default" onClick={stop}>
              {t("settings.stop")}
            </Button>
          ) : (
            <Button leftSection={<IconDownload size={14} aria-hidden />} onClick={begin}>
              {t("settings.downloadBackup")}
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
              {t("settings.theDatabaseTakesNow", { size: formatBytes(size) })}
            </Text>
          )}
          <Alert
            variant="light"
            color="yellow"
            icon={<IconKey size={18} />}
            title={t("settings.theKeyFileIsNot")}
            role="note"
          >
            Keep <Code>master.key</Code> of the data directory (or <Code>SLUICE_MASTER_KEY</Code>) in another place.
            Without it a backup brings back no provider's secret, and no API key works any more.
          </Alert>
        </Stack>
      </Section>
      <Section title={t("settings.whatABackupHolds")}>
        <Group align="flex-start" grow preventGrowOverflow={false} gap="lg">
          <div>
            <Text fz="sm" fw={600} mb={4}>
              {t("settings.inIt")}
            </Text>
            <List size="sm" spacing={4}>
              <List.Item>{t("settings.workspacesGroupsMembersUsers")}</List.Item>
              <List.Item>{t("settings.keysAsDigestsSecretsOf")}</List.Item>
              <List.Item>{t("settings.modelsPricesLimitsSettings")}</List.Item>
              <List.Item>{t("settings.theLedgerSumsExplanations")}</List.Item>
              <List.Item>{t("settings.videoTasksAndAssetsWithout")}</List.Item>
            </List>
          </div>
          <div>
            <Text fz="sm" fw={600} mb={4}>
              {t("settings.notInIt")}
            </Text>
            <List size="sm" spacing={4}>
              <List.Item>{t("settings.theKeyFile")}</List.Item>
              <List.Item>{t("settings.theConfigFile")}</List.Item>
              <List.Item>{t("settings.bytesOfAssetsAndCopied")}</List.Item>
              <List.Item>{t("settings.callsOfTheLastMoments")}</List.Item>
            </List>
          </div>
        </Group>
      </Section>
      <Section title={t("settings.comingBackFromOne")} description={t("settings.onAStoppedGatewayWhatever")}>
        <CodeBlock code={restoreCommands} label={t("settings.commandsToRestore")} wrap />
      </Section>
    </Stack>
  );
}

const restoreCommands = [
  t("settings.inTheDataDirectoryWith"),
  t("settings.rmFSluiceDbWal"),
  "cp sluice-<date>.sqlite sluice.db",
  "cp <kept elsewhere>/master.key master.key && chmod 600 master.key",
].join("\n");

function Doing({ progress }: { readonly progress: BackupProgress | null }) {
  if (progress === null) {
    return (
      <div>
        <Progress value={100} animated aria-label={t("settings.theCopyIsBeingMade")} />
        <Text fz="xs" c="dimmed" mt={4} role="status">
          {t("settings.theGatewayMakesTheCopy")}
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
        aria-label={t("settings.downloadOfTheBackup")}
      />
      <Text fz="xs" c="dimmed" mt={4} className="tabular">
        {formatBytes(progress.received)}
        {progress.total === null ? "" : ` of ${formatBytes(progress.total)}`}
      </Text>
    </div>
  );
}
