import { ActionIcon, Button, Group, Popover, Text, Textarea, TextInput, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconLink, IconPhotoPlus } from "@tabler/icons-react";
import { type FormEvent, type KeyboardEvent, type RefObject, type SyntheticEvent, useState } from "react";
import { FileButton } from "../../../components/file-button.tsx";
import { t } from "../../../language/areas/playground.ts";
import { addressProblem, pictureProblem, pictureTypes, readAsDataUrl } from "../../media/data-url.ts";
import type { KeyCall } from "../../media/key-call.ts";
import { AttachFile } from "./attach-file.tsx";
import { type AttachedFile, isWritten, type Written } from "./conversation.ts";
import { FileList } from "./file-list.tsx";
import { PictureList } from "./picture-list.tsx";

interface ComposerProps {
  readonly call: KeyCall;
  readonly draft: Written;
  readonly onDraft: (edit: (before: Written) => Written) => void;
  /** Each gets the message, in a separate request. */
  readonly models: readonly string[];
  readonly running: boolean;
  /** Why sending is disabled, other than an empty message. */
  readonly barred: string | null;
  readonly input: RefObject<HTMLTextAreaElement | null>;
  readonly onSend: () => void;
  readonly onStop: () => void;
}

const picturesMax = 8;

export function Composer(props: ComposerProps) {
  const { call, draft, onDraft, models, running, barred, input, onSend, onStop } = props;
  const [problem, setProblem] = useState<string | null>(null);
  const room = picturesMax - draft.pictures.length;
  const ready = isWritten(draft) && !running && barred === null;

  const addPicture = (url: string) => onDraft((before) => ({ ...before, pictures: [...before.pictures, url] }));
  const addFiles = async (files: readonly File[]) => {
    if (files.length === 0) return;
    const wrong = files.map(pictureProblem).find((each) => each !== null);
    setProblem(files.length > room ? t("playground.files.imagesMax", { count: picturesMax }) : (wrong ?? null));
    for (const file of files.filter((each) => pictureProblem(each) === null).slice(0, room)) {
      const url = await readAsDataUrl(file).catch(() => null);
      if (url === null) setProblem(t("playground.files.unreadable", { name: file.name }));
      else addPicture(url);
    }
  };
  const takeFiles = (event: SyntheticEvent, { files }: DataTransfer) => {
    if (files.length === 0) return;
    event.preventDefault();
    void addFiles([...files]);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (ready) onSend();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // While an input method composes a word, it handles Enter.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    submit(event);
  };

  return (
    <form onSubmit={submit} className="composer">
      <PictureList
        pictures={draft.pictures}
        onRemove={(at) =>
          onDraft((before) => ({ ...before, pictures: before.pictures.filter((_, each) => each !== at) }))
        }
      />
      <FileList
        files={draft.files}
        onRemove={(id) => onDraft((before) => ({ ...before, files: before.files.filter((file) => file.id !== id) }))}
      />
      <Textarea
        ref={input}
        aria-label={t("playground.chat.message")}
        aria-describedby={models.length > 1 ? "composer-calls composer-hint" : "composer-hint"}
        placeholder={t("playground.chat.messageTo", { model: models.join(", ") })}
        autosize
        minRows={2}
        maxRows={10}
        value={draft.text}
        onChange={(event) => {
          const { value } = event.currentTarget;
          onDraft((before) => ({ ...before, text: value }));
        }}
        onKeyDown={onKeyDown}
        onPaste={(event) => takeFiles(event, event.clipboardData)}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => takeFiles(event, event.dataTransfer)}
        error={problem}
      />
      {models.length > 1 && (
        <Text size="xs" id="composer-calls">
          {t("playground.compare.calls", { count: models.length })}
        </Text>
      )}
      <Group justify="space-between" gap="xs">
        <Group gap={4}>
          <PictureFiles disabled={room <= 0} onAdd={(files) => void addFiles(files)} />
          <PictureAddress disabled={room <= 0} onAdd={addPicture} />
          <AttachFile
            call={call}
            onAdd={(file) => onDraft((before) => ({ ...before, files: withFile(before.files, file) }))}
          />
          <Text size="xs" c="dimmed" id="composer-hint" visibleFrom="xs">
            {barred ?? t("playground.chat.keys")}
          </Text>
        </Group>
        {running ? (
          <Button type="button" variant="default" onClick={onStop}>
            {t("playground.run.stop")}
          </Button>
        ) : (
          <Button type="submit" disabled={!ready}>
            {t("playground.chat.send")}
          </Button>
        )}
      </Group>
    </form>
  );
}

function withFile(files: readonly AttachedFile[], added: AttachedFile): readonly AttachedFile[] {
  return [...files.filter(({ id }) => id !== added.id), added];
}

interface PictureFilesProps {
  readonly disabled: boolean;
  readonly onAdd: (files: readonly File[]) => void;
}

function PictureFiles({ disabled, onAdd }: PictureFilesProps) {
  return (
    <FileButton accept={pictureTypes.join(",")} multiple onChange={onAdd}>
      {(button) => (
        <Tooltip label={t("playground.chat.attachHelp")}>
          <ActionIcon
            {...button}
            variant="subtle"
            color="gray"
            disabled={disabled}
            aria-label={t("playground.chat.attach")}
          >
            <IconPhotoPlus size={17} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
      )}
    </FileButton>
  );
}

/** A picture that the provider fetches itself. */
function PictureAddress({ disabled, onAdd }: { readonly disabled: boolean; readonly onAdd: (url: string) => void }) {
  const [opened, { toggle, close }] = useDisclosure(false);
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const add = () => {
    const wrong = addressProblem(text.trim());
    setProblem(wrong);
    if (wrong !== null) return;
    onAdd(text.trim());
    setText("");
    close();
  };
  return (
    <Popover opened={opened} onChange={(next) => !next && close()} width={320} trapFocus position="top-start">
      <Tooltip label={t("playground.chat.imageUrlAdd")} disabled={opened}>
        <Popover.Target>
          <ActionIcon
            variant="subtle"
            color="gray"
            disabled={disabled}
            onClick={toggle}
            aria-label={t("playground.chat.imageUrlAdd")}
          >
            <IconLink size={17} stroke={1.6} />
          </ActionIcon>
        </Popover.Target>
      </Tooltip>
      <Popover.Dropdown>
        <TextInput
          label={t("playground.chat.imageUrl")}
          description={t("playground.chat.imageUrlHelp")}
          placeholder="https://example.com/photo.jpg"
          data-autofocus
          maxLength={8_192}
          value={text}
          error={problem}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            // The popover is inside the message's form.
            event.preventDefault();
            add();
          }}
        />
        <Group justify="flex-end" mt="xs">
          <Button type="button" onClick={add}>
            {t("playground.chat.imageAdd")}
          </Button>
        </Group>
      </Popover.Dropdown>
    </Popover>
  );
}
