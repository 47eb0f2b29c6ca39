import { Button, Code, Group, JsonInput, Stack, Text } from "@mantine/core";
import { type CapabilitiesConfig, capabilitiesSchema } from "@sluice/contract";
import { useState } from "react";
import { CloseButton } from "../../../components/close-button.tsx";
import { Modal } from "../../../components/modal.tsx";
import { Rich, t } from "../../../language/areas/models.ts";

interface CapabilitiesButtonProps {
  readonly name: string;
  readonly value: CapabilitiesConfig | null;
  readonly onChange: (value: CapabilitiesConfig | null) => void;
}

/** Capabilities of a video deployment, if the defaults of its provider type are missing or wrong. */
export function CapabilitiesButton({ name, value, onChange }: CapabilitiesButtonProps) {
  const [text, setText] = useState<string | null>(null);
  return (
    <>
      <Button
        variant="subtle"
        color="gray"
        size="compact-xs"
        onClick={() => setText(value === null ? "" : JSON.stringify(value, null, 2))}
      >
        {value === null ? t("models.capabilities.title") : t("models.capabilities.own")}
      </Button>
      {text !== null && (
        <CapabilitiesDialog
          name={name}
          text={text}
          onText={setText}
          onClose={() => setText(null)}
          onDone={(capabilities) => {
            onChange(capabilities);
            setText(null);
          }}
        />
      )}
    </>
  );
}

interface CapabilitiesDialogProps {
  readonly name: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onClose: () => void;
  readonly onDone: (value: CapabilitiesConfig | null) => void;
}

function CapabilitiesDialog({ name, text, onText, onClose, onDone }: CapabilitiesDialogProps) {
  const read = readCapabilities(text);
  return (
    <Modal opened onClose={onClose} title={t("models.capabilities.dialog", { name })}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          event.stopPropagation();
          if (read.problem === null) onDone(read.value);
        }}
      >
        <Stack gap="md">
          <Text size="sm" c="dimmed">
            <Rich text="models.capabilities.help" values={{ fields: <FieldNames /> }} />
          </Text>
          <JsonInput
            label={t("models.capabilities.title")}
            placeholder='{ "resolutions": ["720p", "1080p"], "durations": [5, 10] }'
            autosize
            minRows={6}
            maxRows={18}
            data-autofocus
            value={text}
            onChange={onText}
            error={read.problem}
          />
          <Group justify="flex-end">
            <CloseButton />
            <Button type="submit" disabled={read.problem !== null}>
              {t("models.capabilities.use")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function FieldNames() {
  return Object.keys(capabilitiesSchema.shape).map((field, place) => (
    <span key={field}>
      {place > 0 && ", "}
      <Code>{field}</Code>
    </span>
  ));
}

type Read = { readonly value: CapabilitiesConfig | null; readonly problem: string | null };

function readCapabilities(text: string): Read {
  if (text.trim() === "") return { value: null, problem: null };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { value: null, problem: t("models.capabilities.notJson") };
  }
  const parsed = capabilitiesSchema.safeParse(json);
  if (parsed.success) return { value: parsed.data, problem: null };
  const [issue] = parsed.error.issues;
  if (issue?.code === "unrecognized_keys") {
    return { value: null, problem: t("models.capabilities.unknownField", { field: issue.keys.join(", ") }) };
  }
  const field = issue?.path.join(".") || t("models.capabilities.title");
  return { value: null, problem: t("models.capabilities.wrongField", { field }) };
}
