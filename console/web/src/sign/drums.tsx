// The amount on drums, drawn for each frame. `data-cents` is the amount that they read as in this frame.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Odometer, drumsAt, nearest } from "./odometer";

const kDigits = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0];

// Widths in em, as in sign.css.
const kDrum = 0.7;
const kSmallDrum = 0.42;
const kMark = 0.26;
const kDollar = 0.62;

export function Drums({ odometer }: { odometer: Odometer }) {
  const [count, setCount] = useState(() => drumsAt(odometer.at(performance.now())).length);
  const shown = useRef<HTMLDivElement>(null);
  const drawn = useRef(-1);

  const draw = () => {
    const position = odometer.at(performance.now());
    if (position === drawn.current) return;
    const drums = drumsAt(position);
    if (drums.length !== count) {
      drawn.current = -1;
      return setCount(drums.length); // the effect below draws after this render
    }
    const strips = shown.current!.querySelectorAll<HTMLElement>(".strip");
    drums.forEach((drum, i) => {
      strips[drums.length - 1 - i]!.style.transform = `translateY(${(-drum * 100) / kDigits.length}%)`;
    });
    shown.current!.dataset.cents = String(nearest(position));
    drawn.current = position;
  };
  useLayoutEffect(draw, [count]);
  useEffect(() => {
    let frame = requestAnimationFrame(function next() {
      draw();
      frame = requestAnimationFrame(next);
    });
    return () => cancelAnimationFrame(frame);
  }, [count]);

  const whole = count - 2;
  const ems = kDollar + whole * kDrum + Math.floor((whole - 1) / 3) * kMark + kMark + 2 * kSmallDrum;
  return (
    <div class="drums" ref={shown} style={{ "--ems": ems }} aria-hidden="true">
      <span class="dollar">$</span>
      {Array.from({ length: count }, (_, i) => {
        const left = whole - i; // to the point
        return (
          <>
            {left === 0 && <span class="mark">.</span>}
            {i > 0 && left > 0 && left % 3 === 0 && <span class="mark">,</span>}
            <span class={left > 0 ? "drum" : "drum small"}>
              <span class="strip">
                {kDigits.map((digit, row) => (
                  // The highest drum starts blank.
                  <span>{i === 0 && row === 0 && count > 3 ? "" : digit}</span>
                ))}
              </span>
            </span>
          </>
        );
      })}
    </div>
  );
}
