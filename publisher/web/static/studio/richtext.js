// Converts text pasted from a document or a page to Markdown: structure stays, appearance does not.

const SHAPED = "a[href], b, strong, i, em, h1, h2, h3, h4, h5, h6, ul, ol, blockquote, pre, img[src], s, del, strike, sup, sub, table, [style*=mso-list]";
const PARAGRAPH = /^(p|div|section|article|aside|header|footer|main|figure|figcaption|details|summary|d[ltd]|li|table|t[rdh])$/;

// The Markdown of some HTML; "" if it is the same as its plain text.
export function markdownOf(html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  for (const gone of page.querySelectorAll("script, style, meta, title, button")) gone.remove();
  if (!page.body.querySelector(SHAPED)) return "";
  // Two blanks before a line that goes on are a <br>; lines of code end with \r until here.
  return blocks(page.body).replace(/[ \t]+\n(?=\s*\n)/g, "\n").replace(/([^ \t])[ \t]\n/g, "$1\n").replace(/\n{3,}/g, "\n\n").trim()
    .replaceAll("\r", "\n");
}

function blocks(node, depth = 0) {
  return [...node.childNodes].map((child) => block(child, depth)).join("");
}

function block(node, depth) {
  if (node.nodeType === Node.TEXT_NODE) return escape(node.data);
  if (node.nodeType !== Node.ELEMENT_NODE) return "";
  const name = node.localName;
  const inner = () => blocks(node, depth);
  // Read as text, because our Content-Security-Policy disables style attributes.
  const style = node.getAttribute("style") ?? "";
  if (/^h[1-6]$/.test(name)) return `\n\n${"#".repeat(Number(name[1]))} ${flat(inner())}\n\n`;
  if (name === "ul" || name === "ol") return `${depth ? "\n" : "\n\n"}${items(node, depth)}${depth ? "" : "\n\n"}`;
  if (name === "pre") return listing(node);
  if (name === "blockquote") return `\n\n${inner().trim().replace(/\n\s*\n/g, "\n\n").replace(/^/gm, "> ")}\n\n`;
  if (name === "hr") return "\n\n---\n\n";
  if (name === "input" && node.type === "checkbox") return node.checked ? "[x] " : "[ ] ";
  if (name === "br") return "  \n";
  if (name === "code") return code(node.textContent);
  if (name === "img") {
    const place = node.getAttribute("src");
    if (/^(file|cid|blob|webkit-fake-url):/.test(place)) return "*(a picture: add its file here)*"; // of Word, of e-mail
    return /^https?:/.test(place) ? `![${escape(node.alt)}](${node.src})` : "";
  }
  // What is relative would lead into the studio.
  if (name === "a" && /^(https?|mailto):/.test(node.getAttribute("href"))) {
    const words = inner(), end = `](${target(node.href)})`;
    if (!words.includes("\n\n")) return around(words, "[", end);
    return `\n\n${around(flat(words.replace(/^#+ /gm, "")), "[", end)}\n\n`; // a whole teaser
  }
  if (name === "table" && !node.querySelector("table") && node.querySelector("tr > :nth-child(2)")) return table(node);
  const level = /mso-list:[^;]*level(\d)/.exec(style)?.[1]; // Word's lists are paragraphs with a sign
  if (level) {
    const sign = node.querySelector("[style*='mso-list:Ignore']");
    const number = /\d+(?=[.)])/.exec(sign?.textContent);
    sign?.remove();
    return `\n${"    ".repeat(level - 1)}${number ? `${number}.` : "-"} ${inner().trim()}`;
  }
  if (PARAGRAPH.test(name) || /(?:^|[;\s])display:\s*(block|flex|grid)/.test(style)) return `\n\n${inner().trim()}\n\n`;
  // Editors wrap whole documents in <b style="font-weight:normal">, and say bold with styles.
  const weight = /(?:^|[;\s])font-weight:\s*(\w+)/.exec(style)?.[1]; // not Word's mso-bidi-font-weight
  const slant = /(?:^|[;\s])font-style:\s*(\w+)/.exec(style)?.[1];
  const bold = weight ? Number(weight) >= 600 || weight === "bold" : /^(b|strong)$/.test(name);
  const slanted = slant ? slant === "italic" : /^(i|em)$/.test(name);
  const text = inner();
  if (text.includes("\n\n")) return text;
  const struck = /^(s|del|strike)$/.test(name) || /text-decoration[\w-]*:[^;]*line-through/.test(style);
  const raised = /^su[bp]$/.test(name) ? name : /vertical-align:\s*(su[bp])/.exec(style)?.[1];
  if (raised) return around(text, `<${raised}>`, `</${raised}>`);
  const mark = (struck ? "~~" : "") + (bold ? "**" : "") + (slanted ? "*" : "");
  return mark ? around(text, mark, [...mark].reverse().join("")) : text;
}

// More backticks than the code has itself.
const ticks = (text, least) =>
  "`".repeat(Math.max(least, ...(text.match(/`+/g) ?? []).map((run) => run.length + 1)));

function code(text) {
  const tick = ticks(text, 1);
  return tick.length > 1 ? `${tick} ${text} ${tick}` : text && tick + text + tick;
}

// Some editors end lines of code with <br>, and some pages put a bar above it.
function listing(node) {
  for (const end of node.querySelectorAll("br")) end.replaceWith("\n");
  const parts = node.querySelectorAll("code");
  const text = (parts.length === 1 ? parts[0] : node).textContent.replace(/\n$/, "");
  const fence = ticks(text, 3);
  return `\n\n${[fence, ...text.split("\n"), fence].join("\r")}\n\n`;
}

// Published documents of Google lead each link over an address of Google's.
function target(href) {
  const over = /^https:\/\/www\.google\.com\/url\?(.*)/.exec(href);
  const found = new URLSearchParams(over?.[1]).get("q") ?? "";
  return /^https?:[^\s<>]+$/.test(found) ? found : href;
}

function items(list, depth) {
  let number = Number(list.getAttribute("start") ?? 1);
  return [...list.children].map((item, index) => {
    // Google Docs puts a list that belongs to an item beside the item.
    if (/^[uo]l$/.test(item.localName)) return items(item, depth + Math.min(index, 1));
    const sign = list.localName === "ol" ? `${number++}.` : "-";
    return `${"    ".repeat(depth)}${sign} ${blocks(item, depth + 1).trim().replace(/\n{2,}/g, "\n")}`;
  }).join("\n");
}

// A table of two columns or more; one that only arranges a page (one column, or tables in it) is none.
function table(node) {
  const rows = [...node.rows].map((row) => [...row.cells].map((cell) =>
    flat(blocks(cell)).replaceAll("|", "\\|")));
  const width = Math.max(...rows.map((cells) => cells.length));
  const head = [...rows[0], ...Array(width - rows[0].length).fill("")];
  const lines = [head, Array(width).fill("---"), ...rows.slice(1)].map((cells) => `| ${cells.join(" | ")} |`);
  return `\n\n${lines.join("\n")}\n\n`;
}

const flat = (text) => text.trim().replace(/\s*[\n\r]\s*/g, " "); // one line

// Emphasis marks must touch the words: move surrounding spaces outside.
function around(text, before, after) {
  const [, start, words, end] = /^(\s*)([\s\S]*?)(\s*)$/.exec(text);
  return words ? start + before + words + after + end : text;
}

const escape = (text) => text.replace(/\s+/g, " ").replace(/[\\`*_[\]<]/g, "\\$&");
