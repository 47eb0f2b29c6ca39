// Shows only our own description: no address bar, no external validator. One section (tag) at a time, because swagger-ui resolves the
// whole document again for each operation that is opened.
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();

const reference = document.querySelector("#reference");
load().then(start, (error) => {
  reference.textContent = `Could not load the API reference: ${error.message}`;
});

async function load() {
  const response = await fetch("/openapi.json");
  if (!response.ok) throw new Error(`/openapi.json returned ${response.status}.`);
  return response.json();
}

function start(whole) {
  const select = document.querySelector("#section");
  for (const { name } of whole.tags) select.add(new Option(name, name));
  // swagger-ui adds a history entry for each operation that is opened, and "#/" when it is closed. Back returns to the previous section.
  history.pushState = (state, title, hash) =>
    history.replaceState(state, title, hash === "#/" ? `#/${select.value}` : hash);
  const ui = SwaggerUIBundle({
    domNode: reference,
    presets: [SwaggerUIBundle.presets.apis],
    layout: "BaseLayout",
    validatorUrl: null,
    queryConfigEnabled: false,
    deepLinking: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
  });
  ui.specActions.updateUrl(new URL("/openapi.json", location.origin).href);

  /** Opens the section and the operation in the hash: `#/models/listModels`. */
  let shown = null;
  const show = () => {
    const hash = decodeURIComponent(location.hash);
    const named = whole.tags.find(({ name }) => name === hash.split("/")[1]);
    const tag = named ?? shown ?? whole.tags[0];
    if (tag !== shown) {
      shown = tag;
      select.value = tag.name;
      ui.specActions.updateSpec(JSON.stringify(sectionOf(whole, tag)));
    }
    ui.layoutActions.parseDeepLinkHash(hash);
  };
  select.addEventListener("change", () => {
    location.hash = `/${select.value}`;
  });
  addEventListener("hashchange", show);
  show();
}

/** A document with the operations of one tag and the components they refer to. Only the first begins with the introduction. */
function sectionOf(whole, tag) {
  const paths = {};
  for (const [path, item] of Object.entries(whole.paths)) {
    const operations = Object.entries(item).filter(([, { tags }]) => tags.includes(tag.name));
    if (operations.length > 0) paths[path] = Object.fromEntries(operations);
  }
  const components = { securitySchemes: whole.components.securitySchemes };
  const addReferenced = (part) => {
    for (const [, kind, name] of JSON.stringify(part).matchAll(/"\$ref":"#\/components\/(\w+)\/([^"/]+)"/g)) {
      components[kind] ??= {};
      if (name in components[kind]) continue;
      components[kind][name] = whole.components[kind][name];
      addReferenced(components[kind][name]);
    }
  };
  addReferenced(paths);
  const info = tag === whole.tags[0] ? whole.info : { ...whole.info, description: "" };
  return { ...whole, info, tags: [tag], paths, components };
}
