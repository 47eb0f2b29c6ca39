import { Combobox, InputBase, ScrollArea, useCombobox } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconBuilding, IconCheck, IconSelector } from "@tabler/icons-react";
import { useState } from "react";
import { t } from "../language/areas/shell.ts";
import { useSession } from "../session/session-context.tsx";
import { useWorkspace } from "../session/workspace.ts";
import { useWorkspaceChoices } from "../session/workspace-choices.ts";

const everyValue = "";
const searchFrom = 8;
const quietMs = 200;

/** Switches the workspace of all pages. Administrators can also choose all workspaces. The only workspace is just named. */
export function WorkspaceSwitcher() {
  const { user } = useSession();
  const workspace = useWorkspace();
  const [search, setSearch] = useState("");
  const [debounced] = useDebouncedValue(search.trim(), quietMs);
  const choices = useWorkspaceChoices(debounced);
  const box = useCombobox({
    onDropdownClose: () => {
      box.resetSelectedOption();
      setSearch("");
    },
    onDropdownOpen: () => box.focusSearchInput(),
  });
  const shown = choices.filter((each) => `${each.name} ${each.slug}`.toLowerCase().includes(debounced.toLowerCase()));
  const name = choices.find((each) => each.slug === workspace.slug)?.name ?? workspace.slug;
  const label = workspace.none ? t("shell.workspace.none") : (name ?? t("shell.workspace.all"));
  if (workspace.none || (search === "" && choices.length === 1)) {
    return (
      <div className="workspace-name">
        <IconBuilding size={15} aria-hidden />
        <span className="cut">{label}</span>
      </div>
    );
  }
  return (
    <Combobox
      store={box}
      width={280}
      position="bottom-start"
      onOptionSubmit={(value) => {
        workspace.choose(value === everyValue ? null : value);
        box.closeDropdown();
      }}
    >
      <Combobox.Target>
        <InputBase
          component="button"
          type="button"
          pointer
          className="workspace-switcher"
          aria-label={t("shell.workspace.label", { label })}
          leftSection={<IconBuilding size={15} aria-hidden />}
          rightSection={<IconSelector size={14} aria-hidden />}
          rightSectionPointerEvents="none"
          onClick={() => box.toggleDropdown()}
        >
          <span className="cut">{label}</span>
        </InputBase>
      </Combobox.Target>
      <Combobox.Dropdown>
        {(choices.length >= searchFrom || search !== "") && (
          <Combobox.Search
            value={search}
            onChange={(event) => setSearch(event.currentTarget.value)}
            placeholder={t("shell.workspace.find")}
            aria-label={t("shell.workspace.find")}
          />
        )}
        <Combobox.Options>
          <ScrollArea.Autosize mah={320} type="auto">
            {user.administrator && search === "" && (
              <Choice value={everyValue} name={t("shell.workspace.all")} chosen={workspace.all} />
            )}
            {shown.map((each) => (
              <Choice
                key={each.id}
                value={each.slug}
                name={each.name}
                slug={each.slug}
                chosen={each.slug === workspace.slug}
              />
            ))}
            {shown.length === 0 && <Combobox.Empty>{t("shell.workspace.notFound")}</Combobox.Empty>}
          </ScrollArea.Autosize>
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}

interface ChoiceProps {
  readonly value: string;
  readonly name: string;
  readonly slug?: string;
  readonly chosen: boolean;
}

function Choice({ value, name, slug, chosen }: ChoiceProps) {
  return (
    <Combobox.Option value={value} active={chosen} className="workspace-choice">
      <span className="cut">{name}</span>
      {slug !== undefined && slug !== name && <code>{slug}</code>}
      {chosen && <IconCheck size={14} aria-label={t("shell.workspace.selected")} />}
    </Combobox.Option>
  );
}
