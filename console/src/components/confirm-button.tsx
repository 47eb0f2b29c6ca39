import { Button, type ButtonProps, Code, Group, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { type FormEvent, type ReactNode, useState } from "react";
import { Rich, t } from "../language/areas/components.ts";
import { Modal } from "./modal.tsx";

interface ConfirmProps {
  readonly title: string;
  /** The consequences, and which of them cannot be undone. */
  readonly children: ReactNode;
  /** The label of the button that performs the action: "Revoke key". */
  readonly verb: string;
  /** The name of the deleted object, which must be typed first. */
  readonly typed?: string;
  /** false: the button that performs the action is off, because a choice is missing. */
  readonly ready?: boolean;
  /** The dialog closes when it resolves and stays when it throws. */
  readonly onConfirm: () => Promise<unknown>;
}

interface ConfirmButtonProps extends ConfirmProps, Omit<ButtonProps, "children" | "title"> {
  /** The text of the button that opens the dialog; default: `verb`. */
  readonly label?: string;
}

/** A button for dangerous actions: asks for confirmation, and for the most dangerous ones requires typing the name. */
export function ConfirmButton({ title, children, verb, typed, onConfirm, label, ...button }: ConfirmButtonProps) {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant="default" {...button} onClick={open}>
        {label ?? verb}
      </Button>
      <ConfirmDialog
        opened={opened}
        onClose={close}
        title={title}
        verb={verb}
        onConfirm={onConfirm}
        {...(typed === undefined ? {} : { typed })}
      >
        {children}
      </ConfirmDialog>
    </>
  );
}

interface ConfirmDialogProps extends ConfirmProps {
  readonly size?: "lg";
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** The dialog alone, for an item of a menu. */
export function ConfirmDialog({ opened, onClose, title, size, ...body }: ConfirmDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={title} asks={false} {...(size === undefined ? {} : { size })}>
      <ConfirmBody {...body} onClose={onClose} />
    </Modal>
  );
}

type ConfirmBodyProps = Omit<ConfirmDialogProps, "opened" | "title" | "size">;

function ConfirmBody({ children, verb, typed, ready = true, onConfirm, onClose }: ConfirmBodyProps) {
  const [text, setText] = useState("");
  const [doing, setDoing] = useState(false);
  const isReady = ready && (typed === undefined || text === typed);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!isReady || doing) return;
    setDoing(true);
    try {
      await onConfirm();
      onClose();
    } catch {
      // The caller shows the error; the dialog stays open for another try.
    } finally {
      setDoing(false);
    }
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Text size="sm" component="div">
          {children}
        </Text>
        {typed !== undefined && (
          <TextInput
            label={
              <Rich
                text="components.confirm.type"
                tags={{ code: (inside) => <Code>{inside}</Code> }}
                values={{ name: typed }}
              />
            }
            autoComplete="off"
            spellCheck={false}
            data-autofocus
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t("components.actions.cancel")}
          </Button>
          <Button type="submit" color="red" disabled={!isReady} loading={doing}>
            {verb}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
