//! The two programs that the kernel runs: one notes when a read is issued, the other counts how
//! long it took.
//!
//! Source: Linux, *Documentation/bpf/standardization/instruction-set.rst*.

/// An instruction as the kernel takes it: operation, registers, offset, number.
pub(super) type Instruction = u64;

/// Sub-ranges of each power of two, as a power of two.
const PARTS_POWER: i32 = 4;
/// Sub-ranges of each power of two.
pub(super) const PARTS: u64 = 1 << PARTS_POWER;
/// Ranges in all: no time of 64 bits is beyond the last.
pub(super) const RANGES: u32 = 1024;

/// Functions of the kernel.
const LOOK_UP: i32 = 1;
const UPDATE: i32 = 2;
const DELETE: i32 = 3;
const NOW_NS: i32 = 5;
/// The stack's pointer.
const STACK: u8 = 10;

/// Where an event keeps its fields, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) device: i16,
    pub(super) sector: i16,
    pub(super) operation: i16,
}

/// Instructions with jumps whose ends are not known yet.
#[derive(Default)]
struct Assembly {
    instructions: Vec<Instruction>,
    /// Places that jump to the end.
    to_end: Vec<usize>,
}

const fn encoded(code: u8, target: u8, source: u8, offset: i16, number: i32) -> Instruction {
    let [low, high] = offset.to_le_bytes();
    let [a, b, c, d] = number.to_le_bytes();
    u64::from_ne_bytes([code, target | source << 4, low, high, a, b, c, d])
}

impl Assembly {
    fn put(&mut self, code: u8, target: u8, source: u8, offset: i16, number: i32) -> &mut Self {
        self.instructions.push(encoded(code, target, source, offset, number));
        self
    }

    /// Jumps over as many instructions.
    fn skip_below(&mut self, register: u8, limit: i32, over: i16) -> &mut Self {
        self.put(0xa5, register, 0, over, limit)
    }

    fn copy(&mut self, target: u8, source: u8) -> &mut Self {
        self.put(0xbf, target, source, 0, 0)
    }

    fn set(&mut self, target: u8, number: i32) -> &mut Self {
        self.put(0xb7, target, 0, 0, number)
    }

    fn add(&mut self, target: u8, number: i32) -> &mut Self {
        self.put(0x07, target, 0, 0, number)
    }

    fn call(&mut self, function: i32) -> &mut Self {
        self.put(0x85, 0, 0, 0, function)
    }

    /// Ends the program when a register is, or is not, a number.
    fn end_when(&mut self, is_equal: bool, register: u8, number: i32) -> &mut Self {
        self.to_end.push(self.instructions.len());
        self.put(if is_equal { 0x15 } else { 0x55 }, register, 0, 0, number)
    }

    /// A map as the first argument, and a place on the stack as another.
    fn map_and(&mut self, map: i32, argument: u8, place: i32) -> &mut Self {
        self.put(0x18, 1, 1, 0, map).put(0, 0, 0, 0, 0).copy(argument, STACK).add(argument, place)
    }

    /// Leaves unless the event is a read of the device; its sector lies on the stack at -8 then.
    fn only_reads(&mut self, device: u32, fields: Fields) -> &mut Self {
        self.copy(6, 1).put(0x61, 2, 6, fields.device, 0);
        // A comparison sees the number as one of 64 bits; the kernel's device numbers have 31.
        self.end_when(false, 2, i32::try_from(device).unwrap_or(i32::MAX));
        self.put(0x71, 3, 6, fields.operation, 0).end_when(false, 3, i32::from(b'R'));
        self.put(0x79, 1, 6, fields.sector, 0).put(0x7b, STACK, 1, -8, 0)
    }

    fn finish(mut self) -> Vec<Instruction> {
        let end = self.instructions.len();
        for place in &self.to_end {
            let over = i16::try_from(end - place - 1).unwrap_or(i16::MAX);
            let [low, high] = over.to_le_bytes();
            let mut bytes = self.instructions[*place].to_ne_bytes();
            (bytes[2], bytes[3]) = (low, high);
            self.instructions[*place] = u64::from_ne_bytes(bytes);
        }
        self.set(0, 0).put(0x95, 0, 0, 0, 0);
        self.instructions
    }
}

/// At the issue of a read: its sector and the time go into `begun`.
pub(super) fn at_issue(device: u32, fields: Fields, begun: i32) -> Vec<Instruction> {
    let mut program = Assembly::default();
    program.only_reads(device, fields);
    program.call(NOW_NS).put(0x7b, STACK, 0, -16, 0);
    program.map_and(begun, 2, -8).copy(3, STACK).add(3, -16).set(4, 0).call(UPDATE);
    program.finish()
}

/// At its completion: the time since then is counted in `counts`, and the note removed.
pub(super) fn at_completion(
    device: u32,
    fields: Fields,
    begun: i32,
    counts: i32,
) -> Vec<Instruction> {
    let mut program = Assembly::default();
    program.only_reads(device, fields);
    program.call(NOW_NS).copy(7, 0);
    program.map_and(begun, 2, -8).call(LOOK_UP).end_when(true, 0, 0);
    program.put(0x79, 8, 0, 0, 0).put(0x1f, 7, 8, 0, 0);
    program.map_and(begun, 2, -8).call(DELETE);
    range(&mut program);
    program.put(0x63, STACK, 7, -20, 0);
    program.map_and(counts, 2, -20).call(LOOK_UP).end_when(true, 0, 0);
    // One more, also when another processor counts simultaneously.
    program.set(1, 1).put(0xdb, 0, 1, 0, 0);
    program.finish()
}

/// Turns the time in register 7 into its range: the place of its highest bit and the bits below
/// that.
fn range(program: &mut Assembly) {
    let mut far = Assembly::default();
    far.copy(1, 7).set(2, 0);
    // Half of the bits that are left at a time; no comparison takes a number of more than 32.
    far.copy(4, 1).put(0x77, 4, 0, 0, 32).put(0x15, 4, 0, 2, 0);
    far.put(0x77, 1, 0, 0, 32).add(2, 32);
    for bits in [16, 8, 4, 2, 1] {
        far.skip_below(1, 1 << bits, 2).put(0x77, 1, 0, 0, bits).add(2, bits);
    }
    far.copy(3, 2).add(3, -PARTS_POWER).put(0x7f, 7, 3, 0, 0);
    far.put(0x57, 7, 0, 0, (1 << PARTS_POWER) - 1);
    far.put(0x67, 2, 0, 0, PARTS_POWER).put(0x4f, 7, 2, 0, 0);
    // Times below the number of parts are their own range.
    let over = i16::try_from(far.instructions.len()).unwrap_or(i16::MAX);
    program.skip_below(7, 1 << PARTS_POWER, over);
    program.instructions.extend(far.instructions);
    // What the proof needs, although no range is beyond.
    program.put(0x57, 7, 0, 0, 1023);
}

/// The middle of a range, ns: what is counted in it is known within half of its width, a
/// thirty-second.
pub(super) fn middle_ns(range: u32) -> u64 {
    let range = u64::from(range);
    if range < PARTS {
        return range;
    }
    let power = range / PARTS - u64::from(PARTS_POWER.unsigned_abs());
    let width = 1_u64 << power;
    (PARTS + range % PARTS) * width + width / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The range of a time by arithmetic.
    fn range_of(time_ns: u64) -> u32 {
        if time_ns < PARTS {
            return u32::try_from(time_ns).unwrap();
        }
        let power = u64::from(time_ns.ilog2());
        u32::try_from(power * PARTS + ((time_ns >> (power - 4)) & (PARTS - 1))).unwrap()
    }

    /// Runs the part of the program that makes no call: registers of 64 bits and jumps.
    fn run(instructions: &[Instruction], time_ns: u64) -> u64 {
        let mut registers = [0_u64; 11];
        registers[7] = time_ns;
        let mut at = 0;
        while let Some(instruction) = instructions.get(at) {
            let [code, both, low, high, a, b, c, d] = instruction.to_ne_bytes();
            let (target, source) = (usize::from(both & 15), usize::from(both >> 4));
            let offset = usize::try_from(i16::from_le_bytes([low, high])).unwrap();
            let number = i64::from(i32::from_le_bytes([a, b, c, d])).cast_unsigned();
            at += 1;
            let (left, right) = (registers[target], registers[source]);
            match code {
                0xbf => registers[target] = right,
                0xb7 => registers[target] = number,
                0x07 => registers[target] = left.wrapping_add(number),
                0x77 => registers[target] = left >> number,
                0x7f => registers[target] = left >> right,
                0x57 => registers[target] = left & number,
                0x67 => registers[target] = left << number,
                0x4f => registers[target] = left | right,
                0xa5 if left < number => at += offset,
                0x15 if left == number => at += offset,
                0xa5 | 0x15 => {}
                other => panic!("{other:#x}"),
            }
        }
        registers[7]
    }

    #[test]
    fn the_program_finds_the_range_that_arithmetic_finds() {
        let mut program = Assembly::default();
        range(&mut program);
        let times =
            (0..64).flat_map(|bit| [1_u64 << bit, (1 << bit) + (1 << bit) / 3, (1 << bit) - 1]);
        for time_ns in times.chain([0, 5, 15, 16, 17, 31, 32, 28_700, 1_000_000_007, u64::MAX]) {
            let range = range_of(time_ns);
            assert_eq!(run(&program.instructions, time_ns), u64::from(range), "{time_ns}");
            assert!(range < RANGES);
            let (middle, half) = (middle_ns(range), time_ns / 32 + 1);
            assert!(middle.abs_diff(time_ns) <= half, "{time_ns} {middle}");
        }
    }

    #[test]
    fn an_instruction_is_eight_bytes_in_the_kernels_order() {
        let bytes = encoded(0x79, 1, 6, -2, 0x0403_0201).to_ne_bytes();
        assert_eq!(bytes, [0x79, 0x61, 0xfe, 0xff, 1, 2, 3, 4]);
        let program = at_issue(0x0fe0_0000, Fields { device: 8, sector: 16, operation: 34 }, 3);
        // The last two set nothing and leave; every early leave leads there.
        assert_eq!(program.len(), 19);
        assert_eq!(program[17].to_ne_bytes()[0], 0xb7);
        assert_eq!(program[2].to_ne_bytes()[2], 14);
    }
}
