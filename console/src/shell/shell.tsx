import { useDisclosure } from "@mantine/hooks";
import { useLocation } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from "react";
import { t } from "../language/areas/shell.ts";
import { loadChunk } from "../routes/load-chunk.ts";
import { useSession } from "../session/session-context.tsx";
import { useOwnLanguage } from "../session/use-language.ts";
import { useWorkspaceInUrl } from "../session/workspace.ts";
import { Announcement } from "./announcement.tsx";
import { Brand } from "./brand.tsx";
import { ConfirmSignIn } from "./confirm-sign-in.tsx";
import { ConnectionBanner } from "./connection-banner.tsx";
import { Navigation } from "./navigation.tsx";
import { PageWaiting } from "./page-waiting.tsx";
import { TopBar } from "./top-bar.tsx";
import { useNewVersion } from "./use-new-version.ts";
import { useShortcuts } from "./use-shortcuts.ts";
import { useTypedAhead } from "./use-typed-ahead.ts";
import { WorkspaceSwitcher } from "./workspace-switcher.tsx";

const CommandPalette = lazy(() => loadChunk(() => import("./command-palette.tsx")));
const NavigationDrawer = lazy(() => loadChunk(() => import("./navigation-drawer.tsx")));
const ShortcutHelp = lazy(() => loadChunk(() => import("./shortcut-help.tsx")));
const NextStep = lazy(() => loadChunk(() => import("../features/first-run/next-step.tsx")));

/** The bars around every page. The left one becomes a drawer on narrow screens. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const [drawer, { open: openDrawer, close: closeDrawer }] = useDisclosure(false);
  const [palette, { open: openPalette, close: closePalette }] = useDisclosure(false);
  const [help, { open: openHelp, close: closeHelp }] = useDisclosure(false);
  useShortcuts({ onPalette: openPalette, onHelp: openHelp });
  const typedAhead = useTypedAhead(palette);
  const main = useFocusOnPage();
  const { answer, user } = useSession();
  useOwnLanguage(user.language);
  useNewVersion(answer.version);
  useWorkspaceInUrl();
  return (
    <div className="shell">
      <button type="button" className="skip-link" onClick={() => main.current?.focus()}>
        {t("shell.skip")}
      </button>
      <aside className="side-bar">
        <WorkspaceSwitcher />
        <Navigation />
        <Brand />
      </aside>
      <div className="shell-right">
        <ConnectionBanner />
        <TopBar onMenu={openDrawer} onPalette={openPalette} onHelp={openHelp} />
        <Announcement text={answer.announcement} />
        <main id="content" ref={main} tabIndex={-1} className="shell-main">
          {/* The page is rendered together with the line above it, so that it does not move under the pointer. */}
          <Suspense fallback={<PageWaiting />}>
            <FirstRun />
            {children}
          </Suspense>
        </main>
      </div>
      <Suspense>
        {drawer && <NavigationDrawer onClose={closeDrawer} />}
        {palette && <CommandPalette onClose={closePalette} typedAhead={typedAhead} />}
        {help && <ShortcutHelp onClose={closeHelp} />}
      </Suspense>
      <ConfirmSignIn />
    </div>
  );
}

/** Only new installations load the guide through the first steps. It stays until the user leaves the page, to show a final message. */
function FirstRun() {
  const { answer } = useSession();
  const [fresh] = useState(!answer.first_steps.call);
  const pathname = useLocation({ select: (location) => location.pathname });
  if (!fresh) return null;
  return <NextStep pathname={pathname} key={answer.first_steps.call ? "over" : pathname} />;
}

/** A new page gets the focus, so that screen readers announce it. */
function useFocusOnPage() {
  const main = useRef<HTMLElement>(null);
  const path = useLocation({ select: (location) => location.pathname });
  const shown = useRef(path);
  useEffect(() => {
    if (shown.current === path) return;
    shown.current = path;
    main.current?.focus({ preventScroll: true });
  }, [path]);
  return main;
}
