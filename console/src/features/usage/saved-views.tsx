import { ActionIcon, Button, Checkbox, Group, Menu, Popover, Stack, Text, TextInput } from "@mantine/core";
import type { SavedView } from "@sluice/contract";
import { IconBookmark, IconDots } from "@tabler/icons-react";
import { Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { useCall } from "../../api/use-call.ts";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { t } from "../../language/areas/usage.ts";
import { parseSearch, useUrlSearch, writeSearch } from "../../routes/search.ts";
import { useSession } from "../../session/session-context.tsx";
import { useWorkspace } from "../../session/workspace.ts";

const invalidates = ["views.list"] as const;

/** The state of the page as text: all parameters of the URL but the workspace. */
function usePageState(): string {
  const { workspace: _, ...state } = useUrlSearch();
  return writeSearch(state).slice(1);
}

/** Views that the user or the workspace has saved: open, save, rename, share and delete them. */
export function SavedViews() {
  const { path, none, may } = useWorkspace();
  const { user } = useSession();
  const [opened, setOpened] = useState(false);
  const [renaming, setRenaming] = useState<string | null>(null);
  const views = useCall("views.list", { params: { workspace: path }, enabled: opened && !none });
  const navigate = useNavigate();
  const open = (view: SavedView) => {
    const { workspace } = parseSearch(location.search);
    void navigate({ to: "/usage", search: { ...parseSearch(view.state), ...(workspace ? { workspace } : {}) } });
    setOpened(false);
  };
  const list = views.data?.data ?? [];
  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      // Escape cancels a rename first.
      closeOnEscape={renaming === null}
      onClose={() => setRenaming(null)}
      trapFocus
      position="bottom-end"
      shadow="md"
      width={320}
    >
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<IconBookmark size={15} />}
          onClick={() => setOpened((before) => !before)}
        >
          {t("usage.views.title")}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs">
          {views.error !== null && <ProblemAlert problem={views.error} />}
          {views.data !== undefined && list.length === 0 && (
            <Text fz="sm" c="dimmed">
              {t("usage.views.none")}
            </Text>
          )}
          {list.map((view) => (
            <Group key={view.id} gap={4} wrap="nowrap" justify="space-between">
              {renaming !== view.id && (
                <Button variant="subtle" size="compact-sm" onClick={() => open(view)}>
                  <span>
                    {view.name}
                    {view.owner.id !== user.id && (
                      <Text span fz="xs" c="dimmed">
                        {" "}
                        {t("usage.views.sharedBy", { name: view.owner.name || view.owner.email })}
                      </Text>
                    )}
                  </span>
                </Button>
              )}
              {(view.owner.id === user.id || may("admin")) && (
                <ViewMenu
                  view={view}
                  renaming={renaming === view.id}
                  onRename={(on) => setRenaming(on ? view.id : null)}
                />
              )}
            </Group>
          ))}
          {!none && <SaveForm />}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

function SaveForm() {
  const { path } = useWorkspace();
  const state = usePageState();
  const [name, setName] = useState("");
  const [shared, setShared] = useState(false);
  const save = useAct("views.create", { invalidates, done: t("usage.views.saved"), inline: true });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === "") return;
    save.mutate(
      { params: { workspace: path }, body: { page: "usage", name: name.trim(), state, shared } },
      { onSuccess: () => setName("") },
    );
  };
  return (
    <form onSubmit={submit} aria-label={t("usage.views.save")}>
      <Stack gap="xs">
        <TextInput
          label={t("usage.views.save")}
          placeholder={t("usage.views.name")}
          maxLength={256}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Checkbox
          label={t("usage.views.shared")}
          checked={shared}
          onChange={(event) => setShared(event.currentTarget.checked)}
        />
        {save.error !== null && <ProblemAlert problem={save.error} />}
        <Button type="submit" disabled={name.trim() === ""} loading={save.isPending}>
          {t("usage.views.submit")}
        </Button>
      </Stack>
    </form>
  );
}

interface ViewMenuProps {
  readonly view: SavedView;
  readonly renaming: boolean;
  readonly onRename: (renaming: boolean) => void;
}

function ViewMenu({ view, renaming, onRename }: ViewMenuProps) {
  const { path, slug, may } = useWorkspace();
  const state = usePageState();
  const button = useRef<HTMLButtonElement>(null);
  const params = { workspace: path, view: view.id };
  const update = useAct("views.update", { invalidates });
  const remove = useAct("views.remove", { invalidates, done: t("usage.views.removed") });
  if (renaming) {
    const close = () => {
      onRename(false);
      requestAnimationFrame(() => button.current?.focus());
    };
    return <RenameForm view={view} onClose={close} />;
  }
  return (
    <Menu withinPortal={false} position="bottom-end" returnFocus>
      <Menu.Target>
        <ActionIcon
          ref={button}
          variant="subtle"
          color="gray"
          aria-label={t("usage.views.actions", { name: view.name })}
        >
          <IconDots size={15} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => onRename(true)}>{t("usage.views.rename")}</Menu.Item>
        <Menu.Item onClick={() => update.mutate({ params, body: { shared: !view.shared } })}>
          {view.shared ? t("usage.views.unshare") : t("usage.views.share")}
        </Menu.Item>
        <Menu.Item onClick={() => update.mutate({ params, body: { state } })}>{t("usage.views.update")}</Menu.Item>
        {may("member") && (
          <Menu.Item
            renderRoot={(props) => (
              <Link
                to="/usage"
                search={{
                  ...(slug === null ? {} : { workspace: slug }),
                  tab: "scheduled",
                  report: "new",
                  view: view.id,
                }}
                {...props}
              />
            )}
          >
            {t("usage.views.schedule")}
          </Menu.Item>
        )}
        <Menu.Item color="red" onClick={() => remove.mutate({ params })}>
          {t("usage.views.remove")}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Takes the place of the view in the list. Escape cancels; an empty name cannot be saved. */
function RenameForm({ view, onClose }: { readonly view: SavedView; readonly onClose: () => void }) {
  const { path } = useWorkspace();
  const [name, setName] = useState(view.name);
  const input = useRef<HTMLInputElement>(null);
  const update = useAct("views.update", { invalidates, inline: true, onDone: onClose });
  const trimmed = name.trim();
  // After the menu has returned the focus to its button, which is gone.
  useEffect(() => {
    const frame = requestAnimationFrame(() => input.current?.select());
    return () => cancelAnimationFrame(frame);
  }, []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (trimmed === view.name) onClose();
    else if (trimmed !== "") update.mutate({ params: { workspace: path, view: view.id }, body: { name: trimmed } });
  };
  return (
    <Stack component="form" gap={4} flex={1} onSubmit={submit}>
      <TextInput
        ref={input}
        size="xs"
        aria-label={t("usage.views.nameOf", { name: view.name })}
        value={name}
        maxLength={256}
        onChange={(event) => setName(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape" && !event.nativeEvent.isComposing) onClose();
        }}
        error={update.error?.message}
      />
      <Group gap={4} justify="flex-end">
        <Button size="compact-xs" variant="default" onClick={onClose}>
          {t("usage.views.cancel")}
        </Button>
        <Button size="compact-xs" type="submit" disabled={trimmed === ""} loading={update.isPending}>
          {t("usage.views.submit")}
        </Button>
      </Group>
    </Stack>
  );
}
