// Completion of the last tag in the field: the browser's own list, whose entries begin with the
// tags that stand before it.

export function bindTags(field) {
  const list = field.list;
  if (!list) return;
  const names = [...list.options].map((option) => option.value);
  const offer = () => {
    const [, before, begun] = field.value.match(/^((?:.*,)?\s*)([^,]*)$/s);
    const used = new Set(before.split(",").map((name) => name.trim().toLowerCase()));
    const fits = names.filter((name) => !used.has(name.toLowerCase())
      && name.toLowerCase().includes(begun.trim().toLowerCase()));
    list.replaceChildren(...fits.slice(0, 50).map((name) =>
      Object.assign(document.createElement("option"), { value: before + name })));
  };
  field.addEventListener("input", offer);
  offer();
}
