// The amounts that a pool displayed over a period: a step line that falls at each win. The slider below it selects a
// point, by pointer, touch or keyboard; the table has the same data.
import { useEffect, useId, useRef, useState } from "preact/hooks";

import { amount } from "../lib/money";
import { DataTable } from "./data_table";
import type { Amount } from "./types";
import { Time, timeText } from "./format";

const kHeight = 200;
const kPad = { left: 8, right: 8, top: 24, bottom: 34 };

interface Point {
  at: number;
  value: number; // dollars, for drawing only; `text` is exact
  text: string;
  isReset: boolean;
}

// Each amount lasts until the next one, the last one until now. A win gives two points: before and after it.
function pointsOf(amounts: Amount[], from: number, until: number): Point[] {
  const points: Point[] = [];
  for (const each of amounts) {
    const at = Math.max(Date.parse(each.utc), from);
    if (each.before !== undefined) points.push({ at, value: Number(each.before), text: each.before, isReset: false });
    points.push({ at, value: Number(each.displayed), text: each.displayed, isReset: each.before !== undefined });
  }
  const last = points.at(-1);
  if (last && last.at < until) points.push({ ...last, at: until, isReset: false });
  return points;
}

export function Chart({ name, amounts, from, until }: { name: string; amounts: Amount[]; from: number; until: number }) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(600);
  const [read, setRead] = useState<number | undefined>();
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => setWidth(Math.max(Math.round(entry!.contentRect.width), 200)));
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, []);

  const points = pointsOf(amounts, from, until);
  if (points.length < 2)
    return (
      <div class="chart" ref={box}>
        <p class="quiet">No amounts in this period.</p>
      </div>
    );
  const first = points[0]!;
  const last = points.at(-1)!;
  const lowest = points.reduce((best, each) => (each.value < best.value ? each : best));
  const highest = points.reduce((best, each) => (each.value > best.value ? each : best));
  const [low, high] = [lowest.value, highest.value];
  const room = Math.max((high - low) * 0.08, 0.5);
  const span = Math.max(last.at - first.at, 1);
  const x = (at: number) => kPad.left + ((at - first.at) / span) * (width - kPad.left - kPad.right);
  const y = (value: number) =>
    kHeight - kPad.bottom - ((value - low + room) / (high - low + 2 * room)) * (kHeight - kPad.top - kPad.bottom);
  let line = `M${x(first.at).toFixed(1)} ${y(first.value).toFixed(1)}`;
  for (const each of points.slice(1)) line += `H${x(each.at).toFixed(1)}V${y(each.value).toFixed(1)}`;
  const area = `${line}V${kHeight - kPad.bottom}H${kPad.left}Z`;
  const index = Math.min(read ?? points.length - 1, points.length - 1);
  const now = points[index]!;
  const words = (point: Point) => `${timeText(new Date(point.at))}: ${amount(point.text)}${point.isReset ? ", after a win or reset" : ""}`;

  const hover = (event: PointerEvent) => {
    const left = box.current!.getBoundingClientRect().left;
    const at = first.at + ((event.clientX - left - kPad.left) / (width - kPad.left - kPad.right)) * span;
    let found = 0;
    while (found + 1 < points.length && points[found + 1]!.at <= at) found++;
    setRead(found);
  };
  const wins = points.filter((each) => each.isReset);
  return (
    <div class="chart" ref={box}>
      <p class="read">
        <span>{timeText(new Date(now.at))}</span> <strong>{amount(now.text)}</strong>
        {now.isReset && <span> after a win or reset</span>}
      </p>
      <svg
        viewBox={`0 0 ${width} ${kHeight}`}
        height={kHeight}
        role="img"
        aria-label={`${name}: from ${amount(first.text)} to ${amount(last.text)}, ${wins.length} wins and resets`}
        onPointerMove={hover}
        onPointerLeave={() => setRead(undefined)}
      >
        <path class="area" d={area} />
        <path class="line" d={line} />
        {wins.map((each, place) => (
          <path key={place} class="fall" d={`M${x(each.at)} ${kHeight - kPad.bottom}v6m-4 0h8l-4 6z`} />
        ))}
        <line class="axis" x1={kPad.left} x2={width - kPad.right} y1={kHeight - kPad.bottom} y2={kHeight - kPad.bottom} />
        <text x={kPad.left} y={14}>
          {amount(lowest.text)} to {amount(highest.text)}
        </text>
        <text x={kPad.left} y={kHeight - 6}>
          {timeText(new Date(first.at))}
        </text>
        <text x={width - kPad.right} y={kHeight - 6} text-anchor="end">
          {timeText(new Date(last.at))}
        </text>
        {read !== undefined && <line class="cursor" x1={x(now.at)} x2={x(now.at)} y1={kPad.top} y2={kHeight - kPad.bottom} />}
        <circle class="dot" cx={x(now.at)} cy={y(now.value)} r="4" />
      </svg>
      <label class="visually-hidden" for={id}>
        {name}: select a time
      </label>
      <input
        id={id}
        type="range"
        min={0}
        max={points.length - 1}
        value={index}
        aria-valuetext={words(now)}
        onInput={(event) => setRead(Number(event.currentTarget.value))}
        onBlur={() => setRead(undefined)}
      />
      <AmountTable name={name} amounts={amounts} />
    </div>
  );
}

const AmountTable = ({ name, amounts }: { name: string; amounts: Amount[] }) => (
  <details class="maybe">
    <summary>As a table</summary>
    <DataTable label={`${name} as a table`} columns={["From", "Displayed", "Before", "Record"]} numbers={["Displayed", "Before"]}>
      {amounts.map((each) => (
        <tr key={each.record}>
          <td>
            <Time utc={each.utc} />
          </td>
          <td class="number">{amount(each.displayed)}</td>
          <td class="number">{each.before && amount(each.before)}</td>
          <td>
            <a href={`#/journal/${each.record}`}>{each.record}</a>
          </td>
        </tr>
      ))}
    </DataTable>
  </details>
);
