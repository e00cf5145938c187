/// The style sheet of all pages. Colours have WCAG AA contrast in light and dark mode.
enum StyleSheet {
    static let text = """
        :root {
          color-scheme: light dark;
          --ground: #eef1f6; --card: #ffffff; --ink: #1b1f27; --soft: #535b6a; --line: #c9cfda; --edge: #7d8696;
          --accent: #2b5797; --accent-ink: #ffffff; --accent-hover: #1f4478; --tint: #e9eff8;
          --alarm: #a3211f; --alarm-tint: #fcecea; --calm: #1d5c38; --calm-tint: #e6f4ec;
          --shadow: 0 1px 2px rgb(20 30 50 / .08), 0 12px 32px rgb(20 30 50 / .10);
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --ground: #12151b; --card: #1c2029; --ink: #eceff5; --soft: #adb6c5; --line: #39414f; --edge: #7f8a9c;
            --accent: #9dbff0; --accent-ink: #0f1b2e; --accent-hover: #bcd4f7; --tint: #262d3a;
            --alarm: #ffb4ab; --alarm-tint: #3a2220; --calm: #9fdcb7; --calm-tint: #1b3226;
            --shadow: 0 1px 2px rgb(0 0 0 / .4);
          }
        }
        * { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
        body {
          margin: 0; min-height: 100vh; display: flex; flex-direction: column; align-items: center;
          background: var(--ground); color: var(--ink);
          font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
          overflow-wrap: anywhere;
        }
        .card-layout { justify-content: center; padding: 1rem; gap: 1rem; }
        .card-layout main {
          width: 100%; max-width: 27.5rem; padding: 2.25rem; background: var(--card);
          border: 1px solid var(--line); border-radius: .875rem; box-shadow: var(--shadow);
        }
        .card-layout footer { width: 100%; max-width: 27.5rem; }
        footer { color: var(--soft); font-size: .8125rem; text-align: center; }
        footer p { margin: 0; }
        h1 { margin: 0 0 .25rem; font-size: 1.5rem; line-height: 1.25; font-weight: 600; letter-spacing: -.01em; }
        h1 + p:not([class]) { margin-top: .75rem; }
        h2 { margin: 0 0 .75rem; font-size: 1.0625rem; line-height: 1.3; font-weight: 600; }
        p { margin: 0 0 1rem; }
        a { color: var(--accent); text-underline-offset: .15em; }
        code { font: .9em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
        .brand {
          display: flex; align-items: center; gap: .5rem; margin: 0 0 1.25rem; color: var(--soft); font-weight: 600;
        }
        .brand img { border-radius: .375rem; }
        .back { display: inline-flex; align-items: center; min-height: 2.75rem; font-weight: 600; }
        .back::before { content: "\\2039"; margin-right: .375rem; font-size: 1.5em; line-height: 1; }
        .lead { color: var(--soft); }
        .lead strong { color: var(--ink); font-weight: 600; }
        .small { color: var(--soft); font-size: .875rem; }
        .hidden {
          position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
        }
        .notice {
          padding: .75rem .875rem; border-radius: .5rem; border-left: .25rem solid var(--alarm);
          background: var(--alarm-tint); color: var(--alarm);
        }
        .notice.calm { border-left-color: var(--calm); background: var(--calm-tint); color: var(--calm); }

        label { display: block; margin-bottom: .375rem; font-weight: 600; font-size: .9375rem; }
        input + label { margin-top: .875rem; }
        input, select, button, textarea { font: inherit; color: inherit; min-height: 2.75rem; border-radius: .5rem; }
        input, select, textarea {
          width: 100%; min-width: 0; padding: .5rem .75rem; border: 1px solid var(--edge); background: var(--card);
        }
        input::placeholder { color: var(--soft); opacity: 1; }
        input[aria-invalid] { border-color: var(--alarm); }
        button {
          padding: .5rem 1.125rem; border: 1px solid var(--edge); background: var(--card); cursor: pointer;
          font-weight: 600;
        }
        button:hover { background: var(--tint); }
        button.primary { background: var(--accent); border-color: var(--accent); color: var(--accent-ink); }
        button.primary:hover { background: var(--accent-hover); border-color: var(--accent-hover); }
        button.danger { border-color: var(--alarm); color: var(--alarm); }
        button.wide { width: 100%; margin-top: 1rem; }
        button.link {
          padding: 0; border: 0; background: none; color: var(--accent); text-decoration: underline;
          text-underline-offset: .15em; font-weight: 500;
        }
        button.link:hover { color: var(--accent-hover); }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
        .row { display: flex; gap: .5rem; }
        .row.end { justify-content: flex-end; flex-wrap: wrap; margin-top: 1.5rem; }
        .row button { flex: none; }

        .accounts { list-style: none; margin: 0 -.75rem; padding: 0; }
        .account {
          display: flex; align-items: center; gap: .875rem; width: 100%; padding: .625rem .75rem; text-align: left;
          border: 0; background: none; font-weight: 400;
        }
        .avatar {
          flex: none; display: inline-flex; align-items: center; justify-content: center; width: 2.5rem; height: 2.5rem;
          border-radius: 50%; background: var(--tint); color: var(--accent); font-size: .875rem; font-weight: 600;
        }
        .account:hover .avatar { background: var(--card); }
        .who { flex: 1; min-width: 0; display: flex; flex-direction: column; line-height: 1.35; }
        .name { font-weight: 600; }
        .username { font-size: .9375rem; }
        .hint { font-size: .8125rem; color: var(--soft); }
        .badge {
          flex: none; padding: .125rem .5rem; border-radius: 1rem; background: var(--calm-tint); color: var(--calm);
          font-size: .75rem; font-weight: 600;
        }
        .other { margin-top: 1rem; padding-top: 1.25rem; border-top: 1px solid var(--line); }
        .chip {
          display: inline-flex; align-items: center; gap: .5rem; max-width: 100%; margin: 0 0 1rem;
          padding: .1875rem .75rem .1875rem .1875rem; border: 1px solid var(--line); border-radius: 2rem;
          font-size: .9375rem;
        }
        .chip .avatar { width: 1.75rem; height: 1.75rem; font-size: .75rem; }
        .tip { margin: 1.25rem 0 0; padding: .75rem .875rem; border-radius: .5rem; background: var(--tint); }
        .aside { margin: 1.25rem 0 0; }
        .application { font-weight: 600; font-size: 1.0625rem; margin-bottom: .25rem; }
        .permissions { margin: 0 0 1rem; padding-left: 1.25rem; }
        .permissions li { margin-bottom: .375rem; }
        .number {
          margin: 1rem 0 0; text-align: center; font-size: 3rem; line-height: 1.2; font-weight: 600;
          font-variant-numeric: tabular-nums;
        }
        .details { margin-top: 1.5rem; padding-top: 1.25rem; border-top: 1px solid var(--line); }
        dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 0; font-size: .875rem; }
        dt { color: var(--soft); }
        dd { margin: 0; font-variant-numeric: tabular-nums; }

        .wide-layout { padding: 1.5rem 1rem; gap: 1.5rem; }
        .wide-layout main, .wide-layout footer { width: 100%; max-width: 66rem; }
        .wide-layout .lead { max-width: 42rem; }
        .panels { columns: 19rem 3; column-gap: 1rem; }
        .panel {
          break-inside: avoid; margin-bottom: 1rem; padding: 1.25rem; background: var(--card); border: 1px solid var(--line);
          border-radius: .875rem;
        }
        .panel > :last-child { margin-bottom: 0; }
        .setting { margin: 0 0 1rem; }
        .setting p { margin: .375rem 0 0; }
        .setting .row { flex-wrap: wrap; }
        .setting .row + label { margin-top: .75rem; }
        .setting select { flex: 1 1 9rem; width: auto; }
        .setting input { flex: 1 1 6rem; width: auto; }
        .setting .wide { margin-top: 0; }
        .setting .row:has(.times) select { flex-basis: 100%; }
        .setting .count { flex: 1; display: flex; align-items: center; gap: .5rem; margin: 0; font-weight: 400; }
        .rules { margin: 0; padding: 0; list-style: none; }
        .rules form { display: flex; gap: .5rem; align-items: start; margin: 0 0 1rem; }
        .rules p { flex: 1; min-width: 0; margin: 0; overflow-wrap: anywhere; }
        .setting .times { flex: 0 0 4rem; width: 4rem; }
        table { width: 100%; border-collapse: collapse; margin-bottom: 1rem; }
        th, td { padding: .375rem 0; border-bottom: 1px solid var(--line); }
        th { text-align: left; font-weight: 400; }
        td { text-align: right; font-variant-numeric: tabular-nums; font-weight: 600; }
        .requests { margin: 0; font-size: .875rem; }
        .requests th, .requests td { padding: .5rem .75rem .5rem 0; text-align: left; vertical-align: top; font-weight: 400; }
        .requests th { color: var(--soft); white-space: nowrap; }
        .requests td:last-child, .requests th:last-child { padding-right: 0; text-align: right; }
        .requests .log td:last-child { text-align: left; }
        #count { align-self: center; }
        .requests td:nth-child(1), .requests code { white-space: nowrap; }
        .requests td:nth-child(3) { min-width: 8rem; }
        .requests td:nth-child(4) { min-width: 16rem; }
        .requests .failed td:nth-child(3) { color: var(--alarm); font-weight: 600; }
        .requests .failed .small { color: var(--ink); font-weight: 400; }
        .scroller { overflow-x: auto; }
        .steps dt { font-weight: 600; color: var(--ink); }
        .steps dd { margin-bottom: .5rem; }
        :target { background: var(--tint); }
        pre {
          margin: 0; padding: .75rem; border-radius: .5rem; background: var(--tint); font-size: .8125rem;
          white-space: pre-wrap;
        }
        /* The scale of the kiosk's own pages. */
        .kiosk { font-size: clamp(75%, 40% + 1.4vmin, 160%); }
        .kiosk .card-layout main, .kiosk .card-layout footer { max-width: 34rem; }
        @media (max-aspect-ratio: 1/1) and (min-width: 640px) {
          .kiosk { font-size: clamp(90%, 50% + .9vh, 180%); }
        }
        @media (max-width: 30rem) {
          .card-layout { justify-content: flex-start; padding: 0; }
          .card-layout main { padding: 1.5rem 1.25rem; border-width: 0 0 1px; border-radius: 0; box-shadow: none; }
          .card-layout footer { padding: 0 1.25rem 1.25rem; }
          dl { grid-template-columns: 1fr; gap: 0; }
          dd { margin-bottom: .5rem; }
          .row.end > button { flex: 1 1 auto; }
        }

        """
}
