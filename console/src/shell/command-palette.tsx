import { Loader, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { Modal } from "../components/modal.tsx";
import { VendorLogo } from "../components/vendors/vendor-logo.tsx";
import { t } from "../language/areas/shell.ts";
import type { Command } from "./command.ts";
import { useCommands } from "./use-commands.ts";

const quietMs = 150;

interface CommandPaletteProps {
  readonly onClose: () => void;
  /** Keys that were typed before the input was loaded. */
  readonly typedAhead: () => string;
}

/** A search box for everything: actions, pages, keys, models, people, providers, groups, workspaces, and any id. */
export default function CommandPalette({ onClose, typedAhead }: CommandPaletteProps) {
  const [text, setText] = useState("");
  const typed = text.trim();
  const [debounced] = useDebouncedValue(typed, quietMs);
  const [verb, setVerb] = useState<Command | null>(null);
  const { commands, loading } = useCommands(typed, typed === "" ? "" : debounced, verb?.verb ?? null);
  const navigate = useNavigate();
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  });

  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    if (command.verb !== undefined) {
      setVerb(command);
      setText("");
      choose(0);
      return;
    }
    onClose();
    if (command.act === undefined) void navigate({ ...command.link });
    else command.act();
  };
  const isFirstFinal = !loading || (verb === null && commands.length > 0);
  const { chosen, choose, enter } = useChoice(commands, isFirstFinal, run);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && commands.length > 0) {
      event.preventDefault();
      choose((chosen + step + commands.length) % commands.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      enter();
    } else if (event.key === "Backspace" && text === "" && verb !== null) {
      event.preventDefault();
      setVerb(null);
      choose(0);
    }
  };

  const prompt =
    verb === null ? t("shell.palette.placeholder") : t("shell.palette.forVerb", { verb: verb.label.replace("…", "") });
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      centered={false}
      padding={0}
      size="lg"
      aria-label={t("shell.palette.label")}
    >
      <TextInput
        data-autofocus
        className="palette-input"
        variant="unstyled"
        size="md"
        placeholder={prompt}
        aria-label={prompt}
        aria-description={verb === null ? undefined : t("shell.palette.leaveVerb")}
        role="combobox"
        aria-expanded
        aria-controls={id}
        aria-activedescendant={commands.length === 0 ? undefined : `${id}-${chosen}`}
        autoComplete="off"
        spellCheck={false}
        maxLength={256}
        leftSection={<IconSearch size={17} aria-hidden />}
        rightSection={loading ? <Loader size="xs" aria-label={t("shell.palette.searching")} /> : null}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          choose(0);
        }}
        onFocus={() => {
          const before = typedAhead();
          if (before !== "") setText((now) => before + now);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={id} ref={list} role="listbox" aria-label={t("shell.palette.results")} className="palette-list">
        {commands.map((command, index) => (
          <Choice
            key={command.id}
            id={`${id}-${index}`}
            command={command}
            chosen={index === chosen}
            group={command.group === commands[index - 1]?.group ? null : command.group}
            onPoint={() => choose(index)}
            onRun={() => run(command)}
          />
        ))}
        {commands.length === 0 && <div className="palette-none">{t("shell.palette.none")}</div>}
      </div>
    </Modal>
  );
}

/**
 * The selected command. Enter waits until the first one is final, unless the user has selected another: while a search runs, objects of
 * the previous text are listed, though pages and actions come first in any case.
 */
function useChoice(commands: readonly Command[], isFirstFinal: boolean, run: (command: Command | undefined) => void) {
  const [place, setPlace] = useState(0);
  const [isEnterWaiting, setEnterWaiting] = useState(false);
  const chosen = Math.min(place, commands.length - 1);
  useEffect(() => {
    if (!isEnterWaiting || !isFirstFinal) return;
    setEnterWaiting(false);
    run(commands[0]);
  });
  const choose = (index: number) => {
    setPlace(index);
    setEnterWaiting(false);
  };
  const enter = () => (isFirstFinal || place > 0 ? run(commands[chosen]) : setEnterWaiting(true));
  return { chosen, choose, enter };
}

interface ChoiceProps {
  readonly id: string;
  readonly command: Command;
  readonly chosen: boolean;
  /** The group name, shown above its first command. */
  readonly group: string | null;
  readonly onPoint: () => void;
  readonly onRun: () => void;
}

function Choice({ id, command, chosen, group, onPoint, onRun }: ChoiceProps) {
  const { icon: Icon, logo, label, detail } = command;
  return (
    <>
      {group !== null && (
        <div className="palette-group" role="presentation">
          {group}
        </div>
      )}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the box above holds the focus and takes the keys. */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: options are pointed at by aria-activedescendant. */}
      <div
        id={id}
        role="option"
        aria-selected={chosen}
        className="palette-choice"
        onMouseMove={onPoint}
        onClick={onRun}
      >
        {logo == null ? <Icon size={16} stroke={1.6} aria-hidden /> : <VendorLogo icon={logo} name={label} />}
        <span className="cut">{label}</span>
        {detail !== null && <code className="cut">{detail}</code>}
      </div>
    </>
  );
}
