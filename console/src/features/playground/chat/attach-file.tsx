import { ActionIcon, Button, Popover, Select, Stack, Text, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { ConsoleFile } from "@sluice/contract";
import { IconPaperclip } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useCall } from "../../../api/use-call.ts";
import { formatBytes } from "../../../client/format.ts";
import { asProblem, type Problem } from "../../../client/problem.ts";
import { FileButton } from "../../../components/file-button.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { t } from "../../../language/areas/playground.ts";
import { askAs, type KeyCall } from "../../media/key-call.ts";
import type { AttachedFile } from "./conversation.ts";
import { textOf } from "./read-messages.ts";

interface AttachFileProps {
  readonly call: KeyCall;
  readonly onAdd: (file: AttachedFile) => void;
}

/** The newest files; older ones can be named in the API. */
const filesMax = 200;
/** Files that were uploaded here expire, because few are needed again. */
const lifeSeconds = 30 * 86_400;

/** Chooses a file of the workspace, or uploads one with the playground's key. */
export function AttachFile({ call, onAdd }: AttachFileProps) {
  const [opened, { toggle, close }] = useDisclosure(false);
  const add = (file: AttachedFile) => {
    onAdd(file);
    close();
  };
  return (
    <Popover opened={opened} onChange={(next) => !next && close()} width={320} trapFocus position="top-start">
      <Tooltip label={t("playground.attach.open")} disabled={opened}>
        <Popover.Target>
          <ActionIcon variant="subtle" color="gray" onClick={toggle} aria-label={t("playground.attach.open")}>
            <IconPaperclip size={17} stroke={1.6} />
          </ActionIcon>
        </Popover.Target>
      </Tooltip>
      <Popover.Dropdown>{opened && <Choice call={call} onAdd={add} />}</Popover.Dropdown>
    </Popover>
  );
}

function Choice({ call, onAdd }: AttachFileProps) {
  const queries = useQueryClient();
  const [uploading, setUploading] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const { data } = useCall("files.list", { params: { workspace: call.workspace }, query: { limit: filesMax } });
  const files = data?.data.filter(canBeNamed) ?? [];
  const send = async (file: File) => {
    setUploading(true);
    setProblem(null);
    try {
      onAdd({ id: await upload(call, file), name: file.name });
      void queries.invalidateQueries({ queryKey: ["files.list"] });
    } catch (thrown) {
      setProblem(asProblem(thrown));
    } finally {
      setUploading(false);
    }
  };
  return (
    <Stack gap="xs">
      <Select
        label={t("playground.attach.file")}
        placeholder={files.length === 0 ? t("playground.attach.none") : t("playground.attach.choose")}
        disabled={files.length === 0}
        nothingFoundMessage={t("playground.attach.noMatch")}
        openOnFocus={false}
        data={files.map(({ id, filename, size_bytes: size }) => ({
          value: id,
          label: `${filename} (${formatBytes(size)})`,
        }))}
        searchable
        data-autofocus
        comboboxProps={{ withinPortal: false }}
        value={null}
        onChange={(id) => {
          const chosen = files.find((file) => file.id === id);
          if (chosen !== undefined) onAdd({ id: chosen.id, name: chosen.filename });
        }}
      />
      <FileButton onChange={(file) => file !== null && void send(file)}>
        {(button) => (
          <Button {...button} variant="default" loading={uploading}>
            {t("playground.attach.upload")}
          </Button>
        )}
      </FileButton>
      <Text size="xs" c="dimmed">
        {t("playground.attach.help")}
      </Text>
      {problem !== null && <ProblemAlert problem={problem} />}
    </Stack>
  );
}

/** Files of batches hold requests and results, not the content of a message. */
function canBeNamed({ purpose }: ConsoleFile): boolean {
  return purpose !== "batch" && purpose !== "batch_output";
}

/** Returns its id. */
async function upload(call: KeyCall, file: File): Promise<string> {
  const form = new FormData();
  form.append("purpose", "user_data");
  form.append("expires_after[anchor]", "created_at");
  form.append("expires_after[seconds]", String(lifeSeconds));
  form.append("file", file, file.name);
  const { value } = await askAs(call, "/v1/files", form);
  return textOf(value, "id");
}
