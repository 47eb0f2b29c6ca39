import { ActionIcon, Kbd, Tooltip, UnstyledButton } from "@mantine/core";
import { IconBook, IconHelp, IconMenu2, IconSearch } from "@tabler/icons-react";
import { t } from "../language/areas/shell.ts";
import { commandKey } from "./use-shortcuts.ts";
import { UserMenu } from "./user-menu.tsx";
import { WorkspaceSwitcher } from "./workspace-switcher.tsx";

interface TopBarProps {
  readonly onMenu: () => void;
  readonly onPalette: () => void;
  readonly onHelp: () => void;
}

export function TopBar({ onMenu, onPalette, onHelp }: TopBarProps) {
  return (
    <header className="top-bar">
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        className="narrow-only"
        onClick={onMenu}
        aria-label={t("shell.menu")}
      >
        <IconMenu2 size={20} />
      </ActionIcon>
      <WorkspaceSwitcher />
      <UnstyledButton className="palette-button" onClick={onPalette}>
        <IconSearch size={15} aria-hidden />
        <span className="palette-words">{t("shell.palette.short")}</span>
        <Kbd size="xs" className="palette-keys" aria-hidden>
          {commandKey()} K
        </Kbd>
      </UnstyledButton>
      <div className="top-bar-end">
        <Tooltip label={t("shell.pages.reference")}>
          <ActionIcon
            component="a"
            href="/docs"
            target="_blank"
            rel="noreferrer"
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={t("shell.pages.reference")}
            className="wide-only"
          >
            <IconBook size={18} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={t("shell.shortcuts.hint")}>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            onClick={onHelp}
            aria-label={t("shell.shortcuts.title")}
            className="wide-only"
          >
            <IconHelp size={18} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
        <UserMenu />
      </div>
    </header>
  );
}
