// Why an agent moves as it does. Filled by another module of the page.
export function mount(section, { state, ask, board, onState }) {
  section.hidden = true;
}
