import { ActionIcon, Button, Kbd, Tooltip, UnstyledButton } from "@mantine/core";
import { IconBook, IconHelp, IconMenu2, IconSearch } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { logoOf } from "../brand/use-brand.ts";
import { t } from "../language/areas/shell.ts";
import { useSession } from "../session/session-context.tsx";
import { useWorkspace } from "../session/workspace.ts";
import { InboxBell } from "./inbox-bell.tsx";
import { connectPage } from "./page-list.ts";
import { commandKey } from "./use-shortcuts.ts";
import { UserMenu } from "./user-menu.tsx";

interface TopBarProps {
  readonly onMenu: () => void;
  readonly onPalette: () => void;
  readonly onHelp: () => void;
}

export function TopBar({ onMenu, onPalette, onHelp }: TopBarProps) {
  const { may } = useWorkspace();
  const { answer } = useSession();
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
      <Link to="/" className="top-bar-brand narrow-only" aria-label={answer.brand.name}>
        <img src={logoOf(answer.brand)} alt="" height={24} className="brand-logo" />
      </Link>
      <UnstyledButton className="palette-button" onClick={onPalette}>
        <IconSearch size={15} aria-hidden />
        <span className="palette-words">{t("shell.palette.short")}</span>
        <Kbd size="xs" className="palette-keys" aria-hidden>
          {commandKey()} K
        </Kbd>
      </UnstyledButton>
      <div className="top-bar-end">
        {may(connectPage.needs) && <ConnectButton />}
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
        <InboxBell />
        <UserMenu />
      </div>
    </header>
  );
}

/** A new user needs this page first. Only its icon is shown on narrow screens. */
function ConnectButton() {
  const { icon: Icon, label, to } = connectPage;
  return (
    <>
      <Button
        variant="light"
        size="xs"
        className="wide-only"
        leftSection={<Icon size={15} stroke={1.6} aria-hidden />}
        renderRoot={(props) => <Link to={to} {...props} />}
      >
        {label}
      </Button>
      <ActionIcon
        variant="light"
        size="lg"
        className="narrow-only"
        aria-label={label}
        renderRoot={(props) => <Link to={to} {...props} />}
      >
        <Icon size={18} stroke={1.6} />
      </ActionIcon>
    </>
  );
}
